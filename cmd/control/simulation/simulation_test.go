package simulation

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"
)

var (
	seeds = flag.Int("seeds", usual(), "how many seeds are run")
	first = flag.Uint64("first", 1, "the first of them")
	soak  = flag.Int("soak", 0, "how many seeds TestSoak runs, in a process for each processor; 0: it is skipped")
	alone = flag.Bool("portion", false, "run them in this process, however many they are")
	whole = flag.Bool("log", false, "print the events of every seed")
)

// usual is how many seeds are run where nobody says: more where all is tested.
func usual() int {
	if os.Getenv("WEIR_TEST_ALL") == "1" {
		return 200
	}
	return 40
}

// TestMain takes one processor, so that a seed most often happens again as it happened.
func TestMain(m *testing.M) {
	flag.Parse()
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1) // a world is small, and what is left of the last one is looked for when there is enough of it
	debug.SetMemoryLimit(256 << 20)
	os.Exit(m.Run())
}

// happen lets the story of one seed happen.
func happen(t *testing.T, seed uint64) (r Report) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if r, err = Run(t.Context(), seed, dir); err != nil {
			t.Error(err)
		}
	})
	return r
}

// TestSeeds runs seeds one after the other; many of them in processes beside each other, which take their share of a machine that
// has much else to do. A violation fails with the story and its events; to see it again:
//
//	go test ./cmd/control/simulation -run 'TestSeeds/^SEED$' -first SEED -seeds 1 -v -log
func TestSeeds(t *testing.T) {
	const portion, beside = 10, 4
	if *seeds > portion && !*alone {
		inProcesses(t, *first, *seeds, portion, beside)
		return
	}
	totals := map[string]int{}
	for i := range *seeds {
		seed := *first + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := happen(t, seed)
			for kind, n := range r.Counts {
				totals["met: "+kind] += n
			}
			totals["runs"] += r.Runs
			totals["waves undone"] += r.Undone
			totals["packets between switches"] += int(r.Packets)
			totals["virtual minutes"] += int(r.Virtual.Minutes())
			totals["seeds"]++
			if r.Reached {
				totals["seeds in which something went wrong"]++
			}
			if len(r.Violations) > 0 {
				totals["seeds that violate an invariant"]++
				t.Errorf("%s\n%s%s", strings.Join(r.Violations, "\n"), r.Story, r.Log)
			} else if *whole {
				t.Logf("%s%s", r.Story, r.Log)
			}
		})
	}
	for _, what := range slices.Sorted(maps.Keys(totals)) {
		t.Logf("total %d %s", totals[what], what)
	}
}

// TestSoak runs many seeds, in a process for each processor, and prints what they came to.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		t.Skip("make soak runs it")
	}
	began := time.Now()
	inProcesses(t, 1, *soak, 100, runtime.NumCPU())
	t.Logf("%8.2f processor seconds a seed, at %d processors, in %v", time.Since(began).Seconds()*float64(runtime.NumCPU())/float64(*soak), runtime.NumCPU(), time.Since(began).Round(time.Second))
}

// inProcesses runs n seeds, in processes of a portion each, of which so many run at once. What fails is printed when its portion has
// ended, and at the end what all of them came to.
func inProcesses(t *testing.T, first uint64, n, portion, atOnce int) {
	t.Helper()
	totals := map[string]int{}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(atOnce)
	for from := 0; from < n; from += portion {
		seed := first + uint64(from)
		group.Go(func() error {
			c := exec.Command(os.Args[0], "-test.run=^TestSeeds$", "-test.v", "-test.timeout=30m", fmt.Sprint("-first=", seed),
				fmt.Sprint("-seeds=", min(portion, n-from)), "-portion")
			out, err := c.CombinedOutput()
			mu.Lock()
			defer mu.Unlock()
			add(totals, out)
			if err != nil {
				t.Errorf("seeds from %d: %v\n%s", seed, err, failures(out))
			}
			return nil
		})
	}
	_ = group.Wait() // each process tells its own
	for _, what := range slices.Sorted(maps.Keys(totals)) {
		t.Logf("%8d %s", totals[what], what)
	}
	if totals["seeds"] != n {
		t.Errorf("%d seeds ran, want %d", totals["seeds"], n)
	}
}

// add adds up what the output of a process counts.
func add(totals map[string]int, out []byte) {
	scan := bufio.NewScanner(bytes.NewReader(out))
	scan.Buffer(nil, len(out)+1)
	for scan.Scan() {
		var n int
		_, rest, is := strings.Cut(scan.Text(), "total ")
		if _, err := fmt.Sscan(rest, &n); is && err == nil {
			totals[strings.TrimSpace(strings.TrimPrefix(rest, fmt.Sprint(n)))] += n
		}
	}
}

// failures are the parts of an output that tell of failures.
func failures(out []byte) string {
	var b strings.Builder
	for part := range strings.SplitSeq(string(out), "=== RUN") {
		if strings.Contains(part, "simulation_test.go") && strings.Contains(part, "seed ") || strings.Contains(part, "panic:") {
			b.WriteString(part[:min(len(part), 6000)])
		}
	}
	return b.String()
}
