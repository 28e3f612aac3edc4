package linux

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// The shell of the lab understands what is sent to hosts and no more: words and quotes, redirections, pipes, && || ; and
// newlines, braces, and stars in paths. It has no variables, no substitutions and no loops.

// list is pipelines, each with what leads to it from the one before: "", "&&", "||" or ";".
type list []struct {
	after string
	pipe  []simple
}

// simple is one command: words with redirections, or a list in braces.
type simple struct {
	words []token
	group list
	files []redirection
}

// redirection of a stream: 0, 1 or 2, from or to a file; or of 2 to where 1 goes, with an empty file.
type redirection struct {
	stream   int
	file     string
	appendTo bool
}

// token is a word, or an operator where it is not quoted.
type token struct {
	text   string
	quoted bool // some of it: then it is no operator and no pattern
}

var errSyntax = errors.New("syntax error")

// operators of the shell, the longer before the shorter that they begin with.
var operators = []string{"&&", "||", "2>&1", "2>", ">>", ">", "<", ";", "|", "{", "}", "\n"}

// scan takes text apart.
func scan(text string) ([]token, error) {
	var out []token
	var word strings.Builder
	inWord, quoted := false, false
	end := func() {
		if inWord {
			out = append(out, token{word.String(), quoted})
		}
		word.Reset()
		inWord, quoted = false, false
	}
	for text != "" {
		if op := operatorAt(text, inWord); op != "" {
			end()
			out = append(out, token{text: op})
			text = text[len(op):]
			continue
		}
		c := text[0]
		text = text[1:]
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			end()
		case c == '#' && !inWord:
			at := strings.IndexByte(text, '\n')
			if at < 0 {
				at = len(text)
			}
			text = text[at:]
		case c == '\'' || c == '"':
			body, rest, found := strings.Cut(text, string(c))
			if !found || c == '"' && strings.ContainsAny(body, "$`") {
				return nil, errSyntax
			}
			word.WriteString(body)
			text, inWord, quoted = rest, true, true
		case c == '\\' && text != "":
			if text[0] != '\n' {
				word.WriteByte(text[0])
				inWord, quoted = true, true
			}
			text = text[1:]
		case strings.IndexByte("$`()&", c) >= 0:
			return nil, errSyntax
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	end()
	return out, nil
}

// operatorAt is the operator that text begins with. Those that begin with a digit or are braces stand apart from words.
func operatorAt(text string, inWord bool) string {
	for _, op := range operators {
		if !strings.HasPrefix(text, op) {
			continue
		}
		if (op[0] == '2' || op == "{" || op == "}") && inWord {
			continue
		}
		if op == "{" && len(text) > 1 && !strings.ContainsAny(text[1:2], " \n") {
			continue
		}
		return op
	}
	return ""
}

// is says whether the token is that operator.
func (t token) is(op string) bool {
	return !t.quoted && t.text == op && slices.Contains(operators, op)
}

// parse reads a script. It returns whether the text is one.
func parse(text string) (l list, ok bool) {
	tokens, err := scan(text)
	if err != nil {
		return nil, false
	}
	l, rest, err := parseList(tokens)
	return l, err == nil && len(rest) == 0
}

// parseList reads pipelines until the text ends or a brace closes.
func parseList(ts []token) (list, []token, error) {
	var l list
	after := ""
	for {
		for len(ts) > 0 && (ts[0].is("\n") || ts[0].is(";")) {
			ts = ts[1:]
		}
		if len(ts) == 0 || ts[0].is("}") {
			if after == "&&" || after == "||" {
				return nil, nil, errSyntax
			}
			return l, ts, nil
		}
		var pipe []simple
		for {
			var s simple
			var err error
			if s, ts, err = parseSimple(ts); err != nil {
				return nil, nil, err
			}
			pipe = append(pipe, s)
			if len(ts) == 0 || !ts[0].is("|") {
				break
			}
			ts = ts[1:]
		}
		l = append(l, struct {
			after string
			pipe  []simple
		}{after, pipe})
		after = ";"
		if len(ts) > 0 && (ts[0].is("&&") || ts[0].is("||")) {
			after, ts = ts[0].text, ts[1:]
		}
	}
}

// parseSimple reads one command.
func parseSimple(ts []token) (simple, []token, error) {
	var s simple
	if len(ts) > 0 && ts[0].is("{") {
		var err error
		if s.group, ts, err = parseList(ts[1:]); err != nil {
			return s, nil, err
		}
		if len(ts) == 0 {
			return s, nil, errSyntax
		}
		ts = ts[1:]
	}
	for len(ts) > 0 {
		t := ts[0]
		stream := map[string]int{"<": 0, ">": 1, ">>": 1, "2>": 2}
		switch n, redirects := stream[t.text]; {
		case t.is("2>&1"):
			s.files = append(s.files, redirection{stream: 2})
			ts = ts[1:]
		case redirects && !t.quoted:
			if len(ts) < 2 || ts[1].text == "" {
				return s, nil, errSyntax
			}
			s.files = append(s.files, redirection{n, ts[1].text, t.text == ">>"})
			ts = ts[2:]
		case !t.quoted && slices.Contains(operators, t.text):
			if len(s.words) == 0 && s.group == nil {
				return s, nil, errSyntax
			}
			return s, ts, nil
		default:
			if s.group != nil {
				return s, nil, errSyntax
			}
			s.words = append(s.words, t)
			ts = ts[1:]
		}
	}
	if len(s.words) == 0 && s.group == nil {
		return s, nil, errSyntax
	}
	return s, nil, nil
}

// expand is the words of a command with stars in paths replaced by the files there are.
func (d *Device) expand(ts []token) []string {
	var out []string
	for _, t := range ts {
		if t.quoted || !strings.Contains(t.text, "*") {
			out = append(out, t.text)
			continue
		}
		found := d.glob(t.text)
		if len(found) == 0 {
			found = []string{t.text}
		}
		out = append(out, found...)
	}
	return out
}

// glob is the files whose path matches a pattern, in order.
func (d *Device) glob(pattern string) []string {
	var out []string
	for name := range d.files {
		if ok, err := path.Match(pattern, name); ok && err == nil {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
