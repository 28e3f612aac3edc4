package source

import "testing"

func TestMeaningKnowsValuesAndNotHowTheyAreWritten(t *testing.T) {
	base := "kind: Fabric\nname: pod1\nlist: [1, 2]\n"
	for name, c := range map[string]struct {
		text string
		same bool
	}{
		"a comment":                {"# ours\nkind: Fabric # the fabric\nname: pod1\n\nlist: [1, 2]\n", true},
		"another order of keys":    {"name: pod1\nlist: [1, 2]\nkind: Fabric\n", true},
		"a list line by line":      {"kind: Fabric\nname: pod1\nlist:\n  - 1\n  - 2\n", true},
		"a list in another order":  {"kind: Fabric\nname: pod1\nlist: [2, 1]\n", false},
		"a word for a number":      {"kind: Fabric\nname: pod1\nlist: [\"1\", 2]\n", false},
		"another value":            {"kind: Fabric\nname: pod2\nlist: [1, 2]\n", false},
		"a # that is no comment":   {"kind: Fabric\nname: pod1#\nlist: [1, 2]\n", false},
		"two documents for one":    {"kind: Fabric\nname: pod1\n---\nlist: [1, 2]\n", false},
		"a key that stands deeper": {"kind: Fabric\nname: {list: [1, 2]}\n", false},
	} {
		want, err := Meaning([]byte(base))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Meaning([]byte(c.text))
		if err != nil || (string(got) == string(want)) != c.same {
			t.Errorf("%s: the same meaning is %t, want %t (%v)", name, string(got) == string(want), c.same, err)
		}
	}
	if _, err := Meaning([]byte("a: [")); err == nil {
		t.Error("what is no YAML has a meaning")
	}
}
