package source

import (
	"errors"
	"fmt"
	"regexp"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/weirfabric/weir/intent/diag"
)

// form is a way to write text. What a secret form refuses is not repeated in the message.
type form struct {
	pattern *regexp.Regexp
	want    string
	most    int // characters; 0: mostName
	secret  bool
	free    bool // numbers and booleans are taken as they are written
}

// The most characters that one text has. A DNS name has 253 at most (RFC 1035, section 2.3.4), a path of Linux 4095
// (PATH_MAX); a name of Linux's network devices 15 (IFNAMSIZ) and one of its RDMA devices 63 (IB_DEVICE_NAME_MAX).
const (
	mostName   = 253
	mostText   = 4095
	mostValue  = 64 // of a number, a word or a value with a unit
	mostNetdev = 15
	mostRDMA   = 63
)

// The parts of patterns. A name begins with a letter or a digit, so that no command takes it for an option, and no part between
// slashes is "..", so that no path leaves its folder.
const (
	nameChars    = `[A-Za-z0-9_.-]`
	namePattern  = `[A-Za-z0-9]` + nameChars + `*`
	portPattern  = `[A-Za-z0-9][A-Za-z0-9_.:-]*(/[A-Za-z0-9][A-Za-z0-9_.:-]*)*`
	wordsPattern = `[A-Za-z0-9][A-Za-z0-9_.:@+ -]*(/[A-Za-z0-9][A-Za-z0-9_.:@+ -]*)*`
	globFirst    = `([A-Za-z0-9*?]|\[\^?[A-Za-z0-9_.:-]+\])`
	globPart     = globFirst + `([A-Za-z0-9_.:*?-]|\[\^?[A-Za-z0-9_.:-]+\])*`
	linePattern  = `[^\x00-\x1f\x7f-\x9f]`
	plainPattern = `[^\x00-\x08\x0b-\x1f\x7f-\x9f]`
	nameWant     = "a name of letters, digits, dots, dashes and underscores"
)

// forms are the ways to write text. Every field of every document has one of them: none takes control characters.
var forms = map[string]form{
	"":          {pattern: whole(plainPattern + `*`), want: "text", most: mostText},
	"name":      {pattern: whole(namePattern), want: nameWant},
	"port":      {pattern: whole(portPattern), want: "the name of a port: letters, digits and _ . : - /, beginning with a letter or a digit"},
	"netdev":    {pattern: whole(namePattern), want: nameWant, most: mostNetdev},
	"rdma":      {pattern: whole(namePattern), want: nameWant, most: mostRDMA},
	"end":       {pattern: whole(namePattern + `/` + portPattern), want: "an end of a link: DEVICE/PORT, of letters, digits and _ . : - /"},
	"join":      {pattern: whole(namePattern + `/` + namePattern), want: "SUBNET/LEVEL"},
	"label":     {pattern: whole(wordsPattern), want: "a label of letters, digits, blanks and _ . : / @ + -, beginning with a letter or a digit", free: true},
	"key":       {pattern: whole(portPattern), want: "a key of letters, digits and _ . : - /, beginning with a letter or a digit"},
	"model":     {pattern: whole(`[A-Za-z0-9][A-Za-z0-9_.:,()#+ -]*(/[A-Za-z0-9][A-Za-z0-9_.:,()#+ -]*)*`), want: "a model of letters, digits, blanks and _ . : , / ( ) # + -, beginning with a letter or a digit"},
	"address":   {pattern: whole(`(\{name\}|[A-Za-z0-9:])(\{name\}|[A-Za-z0-9_.:-])*(%[A-Za-z0-9_.-]+)?`), want: "a host name or an IP address; {name} stands for the device's name"},
	"interface": {pattern: whole(`([0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)/[0-9]{1,3}`), want: "an address with the length of its subnet, like 10.0.9.7/24"},
	"user":      {pattern: whole(`[A-Za-z0-9_][A-Za-z0-9_.@+\\-]*`), want: "a user name of letters, digits and _ . @ + - \\"},
	"file":      {pattern: whole(linePattern + `+`), want: "the name of a file", most: mostText},
	"version":   {pattern: whole(`([A-Za-z][A-Za-z._+~-]*)?[0-9][0-9A-Za-z._+~-]*`), want: "a version like 20.31.1014 or 202411", free: true},
	"glob":      {pattern: whole(globPart + `(/` + globPart + `)*`), want: "a name or a glob like leaf* or leaf[1-4]"},
	"range":     {pattern: whole(`[A-Za-z0-9*?\{:][A-Za-z0-9_.:*?\{\}%/-]*`), want: "a host name or a glob of it, an address, or a subnet like 10.0.9.0/24"},
	"endpoint":  {pattern: whole(`https?://([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}`), want: "https://HOST:PORT"},
	"prefix":    {pattern: whole(`(/` + namePattern + `)+`), want: "the beginning of keys, like /weir"},
	"thing":     {pattern: whole(wordsPattern), want: "an address like leaf1/Ethernet0/pfc/3"},
	"memlock":   {pattern: whole(`(unlimited|[0-9]+(\.[0-9]+)?(B|kB|KiB|MB|MiB|GB|GiB))`), want: "unlimited or a size like 64GiB"},
	"breakout":  {pattern: whole(`[1-9][0-9]?x[0-9]+(\.[0-9]+)?G`), want: "a breakout like 4x100G"},
	"reference": {pattern: whole(`(env:[A-Za-z_][A-Za-z0-9_]*|(file|exec):` + linePattern + `+)`), want: "a reference: env:NAME, file:PATH or exec:COMMAND", most: mostText, secret: true},
}

// whole is a pattern of a whole text.
func whole(pattern string) *regexp.Regexp { return regexp.MustCompile(`^` + pattern + `$`) }

// formOf is a form by its name, which is a mistake in the definition where there is none.
func formOf(name string) form {
	f, ok := forms[name]
	if !ok {
		panic("source: no form " + name)
	}
	if f.most == 0 {
		f.most = mostName
	}
	return f
}

// schema is the form as JSON Schema.
func (f form) schema() map[string]any {
	s := map[string]any{"type": "string", "pattern": f.pattern.String(), "maxLength": f.most}
	if f.free {
		s["type"] = []string{"string", "number", "boolean"}
	}
	return s
}

// read checks a word.
func (f form) read(n *yaml.Node) error {
	switch {
	case f.secret && f.refuse(n.Value) != nil:
		return errors.New("a secret is not written here but referred to: write env:NAME, file:PATH or exec:COMMAND")
	case !f.free && n.ShortTag() != "!!str":
		return fmt.Errorf("%s is not text: put it in quotes, %q", n.Value, n.Value)
	case n.Value == "" && f.pattern.MatchString(""):
		return fmt.Errorf("is empty: want %s", f.want)
	}
	return f.refuse(n.Value)
}

// refuse says what is wrong with a text; nil where it has the form.
func (f form) refuse(text string) error {
	switch c, acts := diag.Acts(text); {
	case utf8.RuneCountInString(text) > f.most:
		return fmt.Errorf("%s is %d characters long: want %s, of %d at most", short(text), utf8.RuneCountInString(text), f.want, f.most)
	case acts:
		return fmt.Errorf("%s: the character U+%04X stands in it, which a terminal acts on or nobody sees: want %s", short(text), c, f.want)
	case !f.pattern.MatchString(text):
		return fmt.Errorf("%s: want %s", short(text), f.want)
	}
	return nil
}

// short quotes the beginning of a text.
func short(text string) string {
	if begin := shortened(text); begin != text {
		return fmt.Sprintf("%q...", begin)
	}
	return fmt.Sprintf("%q", text)
}

// shortened is the beginning of a text.
func shortened(text string) string {
	const most = 40 // characters of what is wrong, enough to find it by
	n := 0
	for at := range text {
		if n++; n > most {
			return text[:at]
		}
	}
	return text
}

// Names is a text with ranges that stands for several of a form, which the type's Spread writes out and keeps: leaf[1-16].
type Names interface {
	Spread(text string) ([]string, error)
	Count() int // of those that were written out
	Written() (want, pattern string)
}
