package gnmi

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestScanningIsAsGoodAsDecoding(t *testing.T) {
	for _, body := range seeds() {
		compare(t, []byte(body))
	}
}

func FuzzRows(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) { compare(t, body) })
}

func seeds() []string {
	return []string{`{}`, `{"a":{}}`, `{"a":{"b":"1"},"c":{"d":2,"e":null,"f":true}}`, ` { "a" : { "b" : [1,{"x":"}"}] , "c" : "2" } } `,
		`{"a":1}`, `{"a":{"b":"1"}`, `{"a":{"b":}}`, `[]`, `{"a\u0062":{"c":"\n"}}`, `{"skip":{"x":{"y":[{}]}},"a":{"b":"1"}}`}
}

// compare holds the scanner against encoding/json: what is one object of objects is read the same, and nothing makes it panic.
func compare(t *testing.T, body []byte) {
	t.Helper()
	if !utf8.Valid(body) {
		return // encoding/json replaces what is no UTF-8
	}
	read := func(scan func([]byte, func([]byte) bool, func(name, value []byte)) error) (map[string]string, error) {
		out := map[string]string{}
		var row string
		err := scan(body, func(name []byte) bool { row = string(name); return !strings.HasPrefix(row, "skip") },
			func(name, value []byte) { out[row+"/"+string(name)] = string(value) })
		return out, err
	}
	want, err := read(scanSlowly)
	if err != nil {
		_, _ = read(scanRows) // may say anything but must end
		return
	}
	got, err := read(scanRows)
	if err != nil {
		t.Errorf("%s: %v", body, err)
		return
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("%s (-got +want)\n%s", body, diff)
	}
}
