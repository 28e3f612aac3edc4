package sonic_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
)

// observed are the lines of what was observed on SONiC 202511 in November 2026, what the lab does of each now, and the tests that show
// it. A line without a test is one that the lab does not follow: docs/lab.md says so under the same name.
var observed = []struct {
	line, now string
	tests     []string
}{
	{"configuration by gNMI 1", "native paths, a key of several parts is one element, JSON_IETF only, the older form reads too",
		[]string{"TestANativePathKeepsACompositeKeyWhole", "TestGetTakesJSONIETFAndTypeAllOnly"}},
	{"configuration by gNMI 2", "refusals are Unknown in SONiC's words, nothing is written, timestamp 0", []string{"TestRefusalsAreAllOfCodeUnknown", "TestASetIsReadBackSavedAndFlapsItsPort"}},
	{"configuration by gNMI 3", "a Set takes seconds and is saved", []string{"TestASetIsReadBackSavedAndFlapsItsPort", "TestASetCostsByLeafAndByTheSizeOfTheDatabase"}},
	{"configuration by gNMI 4", "a port goes down and up for each row", []string{"TestASetIsReadBackSavedAndFlapsItsPort"}},
	{"configuration by gNMI 5", "a large Set outlives its client and the server's patience", []string{"TestALargeSetTakesLongerThanTheServerWaits", "TestAPatchGoesOnWhenItsClientHasGone"}},
	{"configuration by gNMI 6", "load, checkpoint, rollback and dry run over SSH",
		[]string{"TestABulkLoadAddsAndChangesAndRemovesNothing", "TestARollbackGoesThroughTheUpdaterAndFlaps", "TestADryRunOnlySaysWhetherAPatchWouldBeTaken"}},
	{"configuration by gNMI 7", "no openconfig-qos, a leaf is an object", []string{"TestThereIsNoOpenConfigQoSAndALeafIsAnObject"}},
	{"configuration by gNMI 8", "user and password over TLS", []string{"TestALoginIsByPasswordOrCertificate"}},
	{"configuration by gNMI 8, plain port", "the lab's server has a certificate, so that it has no plain port", nil},
	{"counters by gNMI 9", "one object by alias and queue, values are strings, by name in origin sonic-db an empty object",
		[]string{"TestCountersOfAllPortsAreOneObjectByAlias", "TestPfcwdIsOfTheQueuesBehindTheMapNamedAZURE", "TestNativeCountersStandUnderOIDs", "TestWhatIsNotThere"}},
	{"counters by gNMI 10", "not below a second, ON_CHANGE works, ONCE brings nothing, names are read at the start",
		[]string{"TestASampleIntervalBelowASecondIsRefused", "TestAnOnChangeSubscriptionTellsEveryChangeOfTheConfiguration", "TestOnceBringsNothing", "TestAPortThatIsAddedLaterIsNotResolved"}},
	{"CLI over SSH 11", "a title before the prompt", []string{"TestALoginShellSetsATitleBeforeItsPrompt"}},
	{"CLI over SSH 12", "config needs root", []string{"TestConfigNeedsRoot"}},
	{"what weir met 1", "a second subscription of a connection silences the first", []string{"TestTheSecondSubscriptionOfAConnectionSilencesTheFirst"}},
	{"what weir met 2", "202511 does not sample what changes more often than the interval, later releases do; HINCRBY wakes nobody",
		[]string{"TestWhatChangesOftenIsNotSampledOn202511", "TestHINCRBYWakesNobody"}},
	{"what weir met 3", "a counter that does not come is no idle port", []string{"TestWindows"}},
	{"what weir met 4", "a Set costs by leaf and by the size of the database, a bulk load hardly anything", []string{"TestASetCostsByLeafAndByTheSizeOfTheDatabase"}},
	{"what weir met 5", "a program that is not there is exit status 127", []string{"TestABrokenInstallationHasNoSonicCfggen"}},
	{"what weir met 6", "the server may go during a Set, and the change goes on", []string{"TestASwitchThatIsCutOffGoesOnWithItsUpdate"}},
	{"what weir met 7", "a row that YANG refuses makes every Set fail", []string{"TestTheBigRedSwitchMakesEverySetFail"}},
	{"what weir met 8", "nothing predictable, and nothing at all, stays in the temporary folder", []string{"TestNothingStaysInTheTemporaryFolder"}},
	{"what weir met 9", "a missing row is empty, a missing table NotFound, an unknown port an empty text; STATE_DB and RATES answer",
		[]string{"TestWhatIsNotThere", "TestASubscriptionToAPortThatDoesNotExistBringsAnEmptyText", "TestStatesAndRatesAreAnswered"}},
	{"what weir met 10", "the words of refusals; load of a missing file ends well; aliases count from 1",
		[]string{"TestRefusalsAreAllOfCodeUnknown", "TestAReplaceNeedsWhatItReplaces", "TestWhatTheUpdaterTakesAndDoesNot", "TestALoadOfAMissingFileEndsWell", "TestAliasesCountFromOne"}},
	{"other people's files, lists of ports", "of rows that list a port the last one holds", []string{"TestOfRowsThatListAPortTheLastOneHolds"}},
	{"other people's files, lists of ports and overlapping ranges, on the way to weir", "refused, with the rows to write instead",
		[]string{"TestRowsThatWeirCannotWriteBesideStopTheirPortsAndSayWhatToDo"}},
	{"other people's files, a port without a link", "what a default would shrink is told", []string{"TestWhatStandsAndWouldBecomeLessIsSaid"}},
	{"other people's files, numbers", "read as the device stores them", []string{"TestANumberIsReadAsTheDeviceWouldStoreIt"}},
	{"other people's files, port channels", "follow their members, or are named", []string{"TestAPortChannelFollowsItsMembers", "TestWhatMakesEverySetFailIsNamedAndGoneAround"}},
	{"other people's files, hosts of several ASICs", "the lab has switches of one ASIC only", nil},
	{"other people's files, tunnels", "the lab has no tunnels", nil},
}

func TestEveryObservedLineIsFollowedOrListed(t *testing.T) {
	var tests, page strings.Builder
	for file, into := range map[string]*strings.Builder{"../../../docs/lab.md": &page} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		into.Write(text)
	}
	err := fs.WalkDir(os.DirFS("../../.."), ".", func(path string, _ fs.DirEntry, err error) error {
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
	for _, o := range observed {
		if len(o.tests) == 0 && !strings.Contains(page.String(), "| "+o.line+" |") {
			t.Errorf("%s: no test shows that %s, and docs/lab.md does not list it", o.line, o.now)
		}
		for _, name := range o.tests {
			if !regexp.MustCompile(`(?m)^func ` + name + `\(t \*testing\.T\)`).MatchString(tests.String()) {
				t.Errorf("%s: there is no test %s", o.line, name)
			}
		}
	}
}

func TestHINCRBYWakesNobody(t *testing.T) {
	b := newBench(t, leaf(nil))
	s := b.subscribe(streamOf("CONFIG_DB", "SCHEDULER/scheduler.0", gpb.SubscriptionMode_ON_CHANGE, 0))
	s.next()
	s.next()
	b.run("sudo sonic-db-cli CONFIG_DB HINCRBY 'SCHEDULER|scheduler.0' weight 1", "")
	b.run("sudo sonic-db-cli CONFIG_DB HSET 'SCHEDULER|scheduler.0' type STRICT", "")
	if got := s.next(); !strings.Contains(got, "STRICT") || !strings.Contains(got, `"15"`) {
		t.Errorf("got %q first, want what HSET wrote, with what HINCRBY had made of the weight", got)
	}
}

func TestABrokenInstallationHasNoSonicCfggen(t *testing.T) {
	b := newBench(t, leaf(nil))
	b.run("sudo rm /usr/local/bin/sonic-cfggen", "")
	if out, status := b.run("sonic-cfggen -d --print-data", ""); status != 127 || !strings.Contains(out, "command not found") {
		t.Errorf("got %q, %d", out, status)
	}
}

func TestTheBigRedSwitchMakesEverySetFail(t *testing.T) {
	b := newBench(t, leaf(nil))
	if out, status := b.run("sudo pfcwd big_red_switch enable", ""); status != 0 {
		t.Fatal(out)
	}
	_, err := b.set(update(config+"SCHEDULER/scheduler.0/weight", "40"))
	wantCode(t, err, codes.Unknown, "Data Loading Failed")
	if err != nil && !strings.HasSuffix(err.Error(), "Data Loading Failed") {
		t.Errorf("got %v, want nothing behind Data Loading Failed", err)
	}
}

func TestStatesAndRatesAreAnswered(t *testing.T) {
	b := newBench(t, leaf(nil))
	for _, got := range []string{b.must("STATE_DB", "PORT_TABLE"), b.must("", "sonic-db:/STATE_DB/localhost/PORT_TABLE")} {
		if !strings.Contains(got, `"Ethernet0":{`) {
			t.Errorf("STATE_DB: got %s", got)
		}
	}
	if got := b.rows("RATES/Ethernet*"); len(got["etp1"]) == 0 {
		t.Errorf("RATES: got %v", got)
	}
}

func TestWhatTheUpdaterTakesAndDoesNot(t *testing.T) {
	b := newBench(t, leaf(nil))
	if _, err := b.set(update(config+"BUFFER_PROFILE/ingress_lossy_profile/dynamic_th", "1")); err != nil {
		t.Errorf("dynamic_th of a profile: %v", err)
	}
	b.run("sudo sonic-db-cli CONFIG_DB HSET 'PFC_WD|GLOBAL' POLL_INTERVAL 200", "")
	b.run("sudo sonic-db-cli CONFIG_DB HSET 'PFC_WD|Ethernet0' detection_time 400", "")
	_, err := b.set(&gpb.SetRequest{Delete: []*gpb.Path{path(config + "PFC_WD/GLOBAL/POLL_INTERVAL")}})
	wantCode(t, err, codes.Unknown, "Failed to apply patch on the following scopes:")
}

func TestALoadOfAMissingFileEndsWell(t *testing.T) {
	b := newBench(t, leaf(nil))
	if out, status := b.run("sudo config load -y /tmp/MISSING", ""); status != 0 {
		t.Errorf("got %q, %d", out, status)
	}
}

func TestAliasesCountFromOne(t *testing.T) {
	spec := leaf(nil)
	for i := range spec.Ports {
		spec.Ports[i].Alias = ""
	}
	b := newBench(t, spec)
	if got := b.rows("COUNTERS/Ethernet*"); got["etp1"] == nil || got["etp2"] == nil {
		t.Errorf("got %v", got)
	}
}

func TestASetCostsByLeafAndByTheSizeOfTheDatabase(t *testing.T) {
	took := func(b *bench, req *gpb.SetRequest) time.Duration {
		began := time.Now()
		if _, err := b.set(req); err != nil {
			t.Fatal(err)
		}
		return time.Duration(float64(time.Since(began)) * b.Scale())
	}
	weights := func(n int) *gpb.SetRequest {
		req := &gpb.SetRequest{}
		for i, field := range []string{"weight", "cir", "cbs", "pir", "pbs", "priority"}[:n] {
			value := []string{"40", "9", "9", "9", "9", "1"}[i]
			req.Update = append(req.Update, update(config+"SCHEDULER/scheduler.0/"+field, value).GetUpdate()...)
		}
		return req
	}
	small := newBenchAt(t, leaf(nil), 20)
	one, six := took(small, weights(1)), took(newBenchAt(t, leaf(nil), 20), weights(6))
	if one < 3500*time.Millisecond || six < one+2*time.Second {
		t.Errorf("one leaf took %v, six took %v", one, six)
	}
	large := newBenchAt(t, leaf(nil), 20)
	var rows []string
	for n := range 2000 {
		rows = append(rows, `"`+string(rune('a'+n%26))+strings.Repeat("x", n/26)+`": {"value": "1", "other": "2"}`)
	}
	large.run("cat > /tmp/large", `{"DEVICE_NEIGHBOR_METADATA": {`+strings.Join(rows, ", ")+`}}`)
	large.run("sudo config load -y /tmp/large", "")
	if got := took(large, weights(1)); got < one+500*time.Millisecond {
		t.Errorf("with 4,000 values more one leaf took %v, and %v without", got, one)
	}
}
