package linux

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// rows are what was observed on a real host in November 2026 (Debian 12, kernel 6.1.0-50, iproute2 and ethtool 6.1, systemd 252), in
// the order in which it was written down: the tests that show that the lab, or weir, does as is said, or the words of docs/lab.md
// where the lab does not.
var rows = []struct {
	row   string
	tests []string
	docs  string
}{
	{"a user without root has no sbin in his PATH", []string{"TestWhatWasObserved", "TestAUserWithoutRootReadsWhatRootReads", "TestAnAnswerThatIsMissingIsNeverAsWanted"}, ""},
	{"messages are in the language of the host", []string{"TestWhatWasObserved", "TestAUserWithoutRootReadsWhatRootReads"}, ""},
	{".bashrc prints before the answer", []string{"TestWhatWasObserved", "TestWhatTheFilesOfALoginPrintIsNoAnswer"}, ""},
	{"dcb ends with Protocol error now and then", []string{"TestAProtocolErrorSaysNothingOfTheEffect", "TestAProtocolErrorOfDCBIsReadAndTriedAgain"}, "only on request"},
	{"what the kernel's own driver is set to", []string{"TestWhatWasObserved", "TestTheLawsOnANICOfTheKernelsOwnDriver"}, ""},
	{"a strict class has a share of 100, and vendor cannot be set", []string{"TestWhatWasObserved", "TestTheWayBackToTheDriversSchedulingIsNotTried", "TestARunThatCannotEndIsAbandoned"}, ""},
	{"a change of PFC takes the port down and up", []string{"TestAChangeOfPFCTakesThePortDownAndUp"}, ""},
	{"dcb app replace that is refused ends with status 0", []string{"TestWhatWasObserved"}, ""},
	{"a module in use stays", []string{"TestWhatWasObserved", "TestAModuleInUseStaysLoaded"}, ""},
	{"dcb of lo, and of a device that is not there", []string{"TestWhatWasObserved"}, ""},
	{"ethtool -A autoneg where there is none", []string{"TestWhatWasObserved"}, ""},
	{"configfs of an unknown device", []string{"TestWhatWasObserved"}, ""},
	{"a NIC appears after the unit", []string{"TestANICMayAppearAfterTheUnits"}, "a driver cannot be loaded again"},
	{"After= orders only what is queued", nil, "`After=` orders nothing"},
	{"services have a limit of locked memory of their own", []string{"TestWhatWasObserved", "TestAServiceKeepsWhatItWasStartedWithUntilItIsStartedAgain"}, "nothing obeys a memory limit"},
	{"undo has the opposite order", []string{"TestPacketsAreMarkedLastAndUnmarkedFirst", "TestPacketsAreMarkedLastAndUnmarkedFirstOnEveryNIC", "TestWhatIsUndoneIsUndoneInTheOppositeOrder"}, ""},
	{"NICs have the names that they have", []string{"TestWhatWasObserved", "TestANICThatTheHostHasNotIsNamed"}, ""},
	{"rxe counts neither CNP nor ECN, and its operstate is unknown", nil, "there is no `rxe`"},
	{"packets carry the mark", []string{"TestRDMADefaultsStandInConfigfs", "TestWhatIsWrittenIsRead"}, ""},
	{"a plan of which nothing was sent was not applied", []string{"TestAPlanIsAppliedOnceWhateverItsName"}, ""},
	{"a user without sudo", []string{"TestWhatWasObserved", "TestADoctorTriesRightsAndTools"}, ""},
}

func TestEveryObservedRowIsFollowedOrListed(t *testing.T) {
	page, err := os.ReadFile("../../../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	err = fs.WalkDir(os.DirFS("../../.."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile("../../../" + path)
		tests.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if len(r.tests) == 0 && r.docs == "" {
			t.Errorf("%s: neither a test nor docs/lab.md", r.row)
		}
		if r.docs != "" && !strings.Contains(strings.Join(strings.Fields(string(page)), " "), r.docs) {
			t.Errorf("%s: docs/lab.md does not say %q", r.row, r.docs)
		}
		for _, name := range r.tests {
			if !regexp.MustCompile(`(?m)^func ` + name + `\(t \*testing\.T\)`).MatchString(tests.String()) {
				t.Errorf("%s: there is no test %s", r.row, name)
			}
		}
	}
}
