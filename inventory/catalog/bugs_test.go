package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func namesOf(bugs []Bug) []string {
	var out []string
	for _, b := range bugs {
		out = append(out, b.Name)
	}
	return out
}

func TestABugIsThatOfItsPlatformChipAndRelease(t *testing.T) {
	for name, c := range map[string]struct {
		platform, asic, release string
		want                    []string
	}{
		"a release that has it":              {"sonic", "Spectrum-3", "202411", []string{"sonic-buildimage#22201"}},
		"a build of that release":            {"sonic", "Spectrum-3", "202411.2", []string{"sonic-buildimage#22201"}},
		"another release":                    {"sonic", "Spectrum-3", "202405", nil},
		"a release that only begins like it": {"sonic", "Spectrum-3", "2024110", nil},
		"no release":                         {"sonic", "Spectrum-3", "", nil},
		"another chip":                       {"sonic", "Trident 3", "202411", nil},
		"another platform":                   {"eos", "Tomahawk 5", "4.33.1F", nil},
		"whatever the release":               {"sonic", "Tomahawk 5", "", []string{"sonic-buildimage#29203"}},
	} {
		if diff := cmp.Diff(c.want, namesOf(Builtin().Bugs(c.platform, c.asic, c.release))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAnOperatorAddsBugsAndReplacesThem(t *testing.T) {
	c := &Catalog{}
	c.SetBug(Bug{Name: "ours-1", Platform: "eos", Releases: []string{"4.3"}})
	c.SetBug(Bug{Name: "sonic-buildimage#29203", Platform: "sonic", Releases: []string{"202505"}})
	if diff := cmp.Diff([]string{"ours-1"}, namesOf(c.Bugs("eos", "", "4.3F"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := c.Bugs("eos", "", "4.33.1F"); len(got) > 0 {
		t.Errorf("4.33.1F is taken for 4.3: %+v", got)
	}
	if got := c.Bugs("sonic", "Tomahawk 5", "202511"); len(got) > 0 {
		t.Errorf("the built-in row holds beside the operator's: %+v", got)
	}
}

func TestEveryBugSaysWhatHappensWhatToDoAndWhereItWasRead(t *testing.T) {
	for _, b := range bugs {
		if b.Name == "" || b.Summary == "" || b.Remedy == "" || b.Source == "" {
			t.Errorf("%+v tells too little", b)
		}
	}
}
