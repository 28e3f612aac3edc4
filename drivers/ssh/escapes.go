package ssh

// escapes takes terminal control sequences out of a stream whose pieces may end in the middle of one: the title that a
// login shell sets before its prompt (ESC ] 0 ; text BEL), colours (ESC [ ... letter) and the short ones (ESC letter).
// The grammar is that of ECMA-48, section 5.4, and of xterm's operating system commands.
type escapes struct{ state escapeState }

type escapeState int

const (
	plainText   escapeState = iota
	afterEscape             // ESC
	inControl               // ESC [
	inCommand               // ESC ]: ends with BEL or ESC \
	commandEsc              // ESC inside a command
	inCharset               // ESC ( or ESC ): one more byte
)

// from is the piece without what belongs to a sequence.
func (e *escapes) from(piece []byte) []byte {
	plain := piece[:0]
	for _, c := range piece {
		if e.next(c) {
			plain = append(plain, c)
		}
	}
	return plain
}

// next says whether c is text.
func (e *escapes) next(c byte) bool {
	const esc, bel = 0x1b, 0x07
	switch e.state {
	case plainText:
		if c == esc {
			e.state = afterEscape
			return false
		}
		return c != bel
	case afterEscape:
		switch c {
		case '[':
			e.state = inControl
		case ']', 'P', '^', '_':
			e.state = inCommand
		case '(', ')':
			e.state = inCharset
		default:
			e.state = plainText
		}
	case inControl:
		if c >= 0x40 && c <= 0x7e {
			e.state = plainText
		}
	case inCommand:
		switch c {
		case bel:
			e.state = plainText
		case esc:
			e.state = commandEsc
		}
	case commandEsc, inCharset:
		e.state = plainText
	}
	return false
}
