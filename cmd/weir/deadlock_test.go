package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/weirfabric/weir/intent/proof/deadlock"
)

// deadlockRepo writes the bad case of the deadlock check as a repo, after a change to its fabric.yaml.
func deadlockRepo(t *testing.T, from, to string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"base", "deadlock"} {
		a, err := txtar.ParseFile("../../intent/check/testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			path := filepath.Join(dir, filepath.FromSlash(f.Name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(replaced(string(f.Data), from, to)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// runDeadlock gives the exit code and what was printed.
func runDeadlock(t *testing.T, c console, args ...string) (code int, out string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.out, c.err = &stdout, &stderr
	cmd := deadlockCommand(&c)
	cmd.SetArgs(args)
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.Execute()
	var e exit
	switch {
	case errors.As(err, &e):
		return int(e), stdout.String()
	case err != nil:
		return exitError, err.Error()
	}
	return exitDone, stdout.String()
}

func TestDeadlockPrintsACycleThatCanBeFollowedByHand(t *testing.T) {
	dir := deadlockRepo(t, "", "")
	code, got := runDeadlock(t, console{}, dir)
	want := `pod1: a cycle: 2 buffers can wait for each other in a circle, while the routes change because leaf1/Ethernet3 - spine1/Ethernet1 goes down or comes back.
  1. leaf2/Ethernet3 > spine1/Ethernet2
     spine1 sends traffic to leaf1 on over spine1/Ethernet2 > leaf2/Ethernet3, by its table with leaf1/Ethernet3 - spine1/Ethernet1 down
  2. spine1/Ethernet2 > leaf2/Ethernet3
     leaf2 sends traffic to leaf1 on over leaf2/Ethernet3 > spine1/Ethernet2, by its table with nothing down
  It is a routing loop: it deadlocks when more than 3.12 Gb/s of this traffic enters it with a TTL of 64.
`
	if diff := cmp.Diff(want, got[:min(len(want), len(got))]); code != exitFindings || diff != "" {
		t.Errorf("exit code %d (-want +got):\n%s", code, diff)
	}
}

func TestDeadlockJSONNamesTheReasonOfEachStep(t *testing.T) {
	code, text := runDeadlock(t, console{json: true}, deadlockRepo(t, "", ""))
	var got deadlock.Answer
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	failed := []string{"leaf1/Ethernet3 - spine1/Ethernet1"}
	want := []deadlock.Step{
		{Link: "leaf2/Ethernet3 > spine1/Ethernet2", Priority: 3, Because: deadlock.Because{Destination: "leaf1", Switch: "spine1", Failure: failed}},
		{Link: "spine1/Ethernet2 > leaf2/Ethernet3", Priority: 3, Because: deadlock.Because{Destination: "leaf1", Switch: "leaf2", Failure: []string{}}},
	}
	if diff := cmp.Diff(want, got.Cycle); diff != "" || code != exitFindings || got.Free || got.Nodes != 8 || got.Turns != 4 {
		t.Errorf("exit code %d, %d nodes, %d turns (-want +got):\n%s", code, got.Nodes, got.Turns, diff)
	}
	if diff := cmp.Diff([]int{3}, got.Covered.Priorities); diff != "" {
		t.Errorf("priorities (-want +got):\n%s", diff)
	}
	proven := map[string]bool{}
	for _, r := range got.Remedies {
		proven[r.Name] = r.Proven
	}
	if diff := cmp.Diff(map[string]bool{"up-down": true, "lossy-off-path": true, "watchdog": false}, proven); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDeadlockSaysHowFarItsAnswerReaches(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		args           []string
		code           int
		want           string
	}{
		{"up-down", "shortest-path", "up-down", []string{"--failures", "2"}, exitDone, "two links or switches down, in transition: 28 by certificate"},
		{"the healthy fabric alone", "", "", []string{"--failures=0"}, exitDone, "healthy: 1 by certificate"},
		{"nothing lossless", "lossless: true", "lossless: false", nil, exitDone, "no lossless class has PFC on"},
		{"one layer-2 domain", "policy: shortest-path", "routed: false", nil, exitError, "the proof is for routed fabrics"},
		{"too many failures", "", "", []string{"--failures=3"}, exitError, "want 0, 1 or 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, got := runDeadlock(t, console{}, append([]string{deadlockRepo(t, c.from, c.to)}, c.args...)...)
			if code != c.code || !strings.Contains(got, c.want) {
				t.Errorf("got exit code %d and\n%s\nwant %d and %q", code, got, c.code, c.want)
			}
		})
	}
}

// TestDeadlockJudgesASubnetAsOpenSMRoutesIt has the dumps of a real OpenSM on a ring.
func TestDeadlockJudgesASubnetAsOpenSMRoutesIt(t *testing.T) {
	const ring = "../../intent/depend/testdata/opensm/ring5/"
	subnet := func(routes string, more ...string) []string {
		return append([]string{"--lst", ring + "opensm-subnet.lst", "--fdbs", ring + routes}, more...)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"min hop", subnet("minhop.fdbs"), exitFindings, "sw5 sends traffic to h4a LID 9 on over sw5/35 > sw4/36, by its table of OpenSM"},
		{"up and down", subnet("updn.fdbs"), exitDone, "subnet: free"},
		{"lash with its lanes", subnet("lash.fdbs", "--sl2vl", ring+"lash.sl2vl", "--levels", ring+"lash.levels"), exitDone, "subnet: free"},
		{"lash without them", subnet("lash.fdbs"), exitFindings, "the dump has none, so that every link is taken to have one lane"},
		{"half a dump", subnet("updn.fdbs")[:2], exitError, "needs both --lst and --fdbs"},
		{"a repo beside it", subnet("updn.fdbs", "."), exitError, "in place of a fabric repo"},
		{"a file that is not there", subnet("nothing.fdbs"), exitError, "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, got := runDeadlock(t, console{}, c.args...)
			if code != c.code || !strings.Contains(got, c.want) {
				t.Errorf("got exit code %d and\n%s\nwant %d and %q", code, got, c.code, c.want)
			}
		})
	}
	code, text := runDeadlock(t, console{json: true}, subnet("minhop.fdbs")...)
	var got deadlock.Answer
	if err := json.Unmarshal([]byte(text), &got); err != nil || code != exitFindings || len(got.Cycle) != 5 || got.Covered.Policy != "subnet" {
		t.Errorf("got exit code %d, %v and\n%s", code, err, text)
	}
}

func TestDeadlockDrawsTheCycle(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cycle.svg")
	runDeadlock(t, console{}, deadlockRepo(t, "", ""), "--svg", file)
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(body)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			counts[e.Name.Local]++
		}
	}
	got := []int{counts["rect"], counts["line"], counts["path"], strings.Count(string(body), "dasharray")}
	if diff := cmp.Diff([]int{4, 4, 3, 1}, got); diff != "" { // switches, links, two arrows and their tip, and the link that is down
		t.Errorf("(-want +got):\n%s\n%s", diff, body)
	}
}

// replaced is the text with a change; none where there is nothing to look for.
func replaced(text, from, to string) string {
	if from == "" {
		return text
	}
	return strings.ReplaceAll(text, from, to)
}
