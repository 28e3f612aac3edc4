package main

import (
	"io"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
)

// BenchmarkPlan1024x64 is weir plan --observed on a Clos of 1,024 switches of 64 ports, half SONiC and half EOS, as the command
// does it: read the repo from disk, resolve and check it, read the configuration of every switch from disk, write the wanted
// one, and work out the steps and waves. What runs is as large as what is wanted and differs in one leaf of a hundred.
// Goal, on two cores: under 5 s and under 1 GiB of heap.
func BenchmarkPlan1024x64(b *testing.B) {
	c := &console{out: io.Discard, err: io.Discard}
	dir, observed := b.TempDir(), b.TempDir()
	mixed := []string{"sonic", "eos/DCS-7260CX3-64"}
	if _, err := scaffold(dir, inventory.ClosSpec{Pods: 14, Leaves: 32, Spines: 32, Cores: 4, Leaf: mixed, Spine: mixed, Core: mixed}); err != nil {
		b.Fatal(err)
	}
	leaves, planted := observeAnother(b, c, dir, observed)
	b.ReportAllocs()
	var peak uint64
	var load, work, cpu time.Duration
	for b.Loop() {
		runtime.GC()
		highest := heapPeak()
		before, start := cpuTime(b), time.Now()
		r, err := c.mustHold(dir, "")
		if err != nil {
			b.Fatal(err)
		}
		loaded := time.Now()
		p, err := c.plan(b.Context(), r, planFlags{observed: observed})
		if err != nil {
			b.Fatal(err)
		}
		load, work, cpu = load+loaded.Sub(start), work+time.Since(loaded), cpu+cpuTime(b)-before
		peak = max(peak, highest())
		if p.Summary.Devices != 1024 || p.Summary.Update != planted {
			b.Fatalf("%d updates on %d devices, want %d on 1024", p.Summary.Update, p.Summary.Devices, planted)
		}
	}
	n := float64(b.N)
	b.ReportMetric(load.Seconds()/n, "open-s/op")
	b.ReportMetric(work.Seconds()/n, "plan-s/op")
	b.ReportMetric(cpu.Seconds()/n, "cpu-s/op")
	b.ReportMetric(float64(peak)/(1<<20), "peak-heap-MiB")
	b.ReportMetric(float64(leaves), "leaves")
}

// observeAnother writes to a folder what each device of the repo would answer if a numeric leaf of every hundred leaves were
// another. It gives the number of leaves, and of those that differ.
func observeAnother(b *testing.B, c *console, dir, observed string) (leaves, planted int) {
	b.Helper()
	r, err := c.mustHold(dir, "")
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range r.Names {
		doc := r.Wanted(name)
		have := append(plan.Document{}, doc...)
		due := 0
		for i := range have {
			if i%100 == 0 {
				due++
			}
			if n, err := strconv.Atoi(have[i].Value); err == nil && due > 0 && n > 100 {
				have[i].Value, due, planted = strconv.Itoa(n-1), due-1, planted+1
			}
		}
		leaves += len(doc)
		for i, f := range r.Print(name, have) {
			file := filepath.Join(observed, name, filepath.FromSlash(r.Queries(name)[i].Name))
			if err := writeFile(file, f.Body); err != nil {
				b.Fatal(err)
			}
		}
	}
	return leaves, planted
}

// heapPeak samples the heap in use, in bytes, until the function that it returns is called, which gives the highest.
func heapPeak() func() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	var peak uint64
	var done sync.WaitGroup
	stop := make(chan struct{})
	done.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(samples)
			peak = max(peak, samples[0].Value.Uint64()+samples[1].Value.Uint64())
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	})
	return func() uint64 {
		close(stop)
		done.Wait()
		return peak
	}
}

// cpuTime is what the process has used of all cores, in the kernel as well.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
