package control_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/proof/path"
	"github.com/weirfabric/weir/inventory"
)

// fabrics is how many random fabrics are configured by hand; `make soak` takes more.
var fabrics = flag.Int("fabrics", 6, "how many random fabrics are configured by others' names, proven, and loaded")

// TestTheVerdictOnWhatRunsIsThatOfTheDataPlane configures fabrics with names of others, some of them wrongly, proves what runs, and
// has all hosts send to one: what is proven loses nothing, and where packets are lost the proof names the place.
func TestTheVerdictOnWhatRunsIsThatOfTheDataPlane(t *testing.T) {
	proven, lossy := 0, 0
	for seed := range uint64(*fabrics) {
		r := rand.New(rand.NewPCG(seed, 3))
		platforms := [][]string{{"sonic"}, {"eos"}, {"sonic", "eos"}}
		spec := inventory.ClosSpec{
			Name: "pod1", Leaves: 2 + r.IntN(2), Spines: 1 + r.IntN(2), Hosts: 6, NICs: 1, Ports: 12,
			Leaf: platforms[r.IntN(3)], Spine: platforms[r.IntN(3)],
		}
		onFabric(t, spec, func(t *testing.T, f *testFabric) {
			if seed%2 == 0 { // PFC alone holds the senders
				f.rewrite(t, "fabric.yaml", "share: 50%}\n  - {name: cnp", "share: 50%, ecn: {off: true}}\n  - {name: cnp")
				f.rewrite(t, "intent/hosts.yaml", "congestionControl: dcqcn", "congestionControl: none")
			}
			f.configured(t)
			mistake := f.mistaken(t, r)
			f.lookedAt(t)
			live := f.open(t).Live(t.Context(), "", nil)
			proof, err := control.ProveAllPaths(live.Provable(), "")
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			began := f.lab.Now()
			if err := f.lab.SetTraffic(sim.Incast, fmt.Sprintf("gpu%d", 1+r.IntN(6))); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Second)
			lost := slices.DeleteFunc(f.lab.Lost(began), func(l sim.Loss) bool { return l.RDMA < 1 })
			switch {
			case proof.Lossless() && len(lost) > 0:
				t.Errorf("seed %d (%s): proven, and %+v is lost", seed, mistake, lost)
			case mistake == "" && !proof.Lossless():
				t.Errorf("seed %d: nothing is wrong, and it is not proven:\n%s%s", seed, broken(proof), live.Findings)
			case len(lost) > 0 && !named(live, proof, lost):
				t.Errorf("seed %d (%s): %+v is lost, and the proof names\n%s", seed, mistake, lost, broken(proof))
			}
			if proof.Lossless() {
				proven++
			}
			if len(lost) > 0 {
				lossy++
			}
		})
	}
	t.Logf("%d fabrics: %d proven, %d lost packets", *fabrics, proven, lossy)
	if *fabrics > 5 && (proven == 0 || lossy == 0) {
		t.Errorf("%d proven and %d that lose packets: the fabrics do not try both", proven, lossy)
	}
}

// named says whether a break lies at a device that lost packets, or at one that is cabled to the port that did.
func named(live control.Live, p control.PathProof, lost []sim.Loss) bool {
	for _, l := range lost {
		near := []string{l.Device}
		for _, link := range live.Fabric.Links {
			a, b := link.A.Address(), link.B.Address()
			if at := addr.Port(l.Device, l.Port); a == at || b == at {
				near = append(near, a.Device, b.Device)
			}
		}
		if slices.ContainsFunc(breaks(p), func(b path.Break) bool { return !b.Unknown && slices.Contains(near, b.At.Device) }) {
			return true
		}
	}
	return false
}

// configured gives every switch what it must hold, by other names than weir's, and hosts what weir gives them, which has no names.
func (f *testFabric) configured(t *testing.T) {
	t.Helper()
	r := f.open(t)
	var hosts []string
	for _, name := range r.Names {
		d := r.Device(name)
		if d.Host() {
			hosts = append(hosts, name)
			continue
		}
		file := r.Print(name, r.Wanted(name))[0]
		if d.Platform.V == "sonic" {
			f.load(t, r, name, theirDatabase(t, file.Body))
			continue
		}
		f.byHand(t, name, slices.Concat([]string{"enable", "configure session theirs"}, theirLines(string(file.Body)), []string{"commit"})...)
	}
	p, err := r.Plan(hosts, r.Observe(t.Context(), hosts, "", nil), control.PlanOptions{})
	if err != nil || p.Findings.HasErrors() {
		t.Fatalf("%v %s", err, p.Findings)
	}
	if result, err := r.Apply(t.Context(), p, f.options(blind())); err != nil || result.Outcome != control.Applied {
		t.Fatalf("%+v, %v", result, err)
	}
}

func (f *testFabric) load(t *testing.T, r *control.Repo, name string, body []byte) {
	t.Helper()
	target, err := r.Dial(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	send := []plan.Message{{Op: plan.Write, Path: "/tmp/theirs.json", Body: string(body)}}
	if !strings.Contains(string(body), "wred_profile") { // the factory marks in these queues, and loading takes nothing away
		for _, p := range r.Device(name).Ports {
			for _, queue := range []string{"3", "4"} {
				send = append(send, plan.Message{Op: plan.Run, Body: "sudo sonic-db-cli CONFIG_DB HDEL 'QUEUE|" + p.Name + "|" + queue + "' wred_profile"})
			}
		}
	}
	send = append(send, plan.Message{Op: plan.Run, Body: "sudo config load -y /tmp/theirs.json"})
	if err := target.Set(t.Context(), plan.Chunk{Send: send}, plan.Pending{Device: name, Name: "theirs", Route: plan.SSHBulk}); err != nil {
		t.Fatal(err)
	}
}

// theirDatabase is a CONFIG_DB with other names of maps, schedulers and curves.
func theirDatabase(t *testing.T, body []byte) []byte {
	t.Helper()
	var db map[string]map[string]map[string]string
	if err := json.Unmarshal(body, &db); err != nil {
		t.Fatal(err)
	}
	their := func(name string) string {
		return strings.NewReplacer("AZURE", "SITE-7", "weir_", "ours-").Replace(name)
	}
	for table, rows := range db {
		named := strings.HasSuffix(table, "_MAP") && table != "PORT_QOS_MAP" || strings.HasPrefix(table, "MAP_") || table == "SCHEDULER" || table == "WRED_PROFILE"
		for key, row := range rows {
			for field, value := range row {
				if table == "PORT_QOS_MAP" || table == "QUEUE" {
					row[field] = their(value)
				}
			}
			if named && their(key) != key {
				rows[their(key)] = row
				delete(rows, key)
			}
		}
	}
	out, err := json.Marshal(db)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// theirLines are the lines of a configuration as they are typed, with another name for profiles.
func theirLines(text string) []string {
	text = strings.NewReplacer("qos profile WEIR", "qos profile STORAGE", "service-profile WEIR", "service-profile STORAGE", "queue profile WEIR", "queue profile DEEP").Replace(text)
	var out []string
	depth := 0
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || trimmed == "!" {
			continue
		}
		for now := (len(line) - len(strings.TrimLeft(line, " "))) / 3; depth > now; depth-- {
			out = append(out, "exit")
		}
		out = append(out, trimmed)
		if opens := strings.HasPrefix(trimmed, "interface ") || strings.HasPrefix(trimmed, "qos profile ") || strings.Contains(trimmed, "tx-queue ") && !strings.HasPrefix(trimmed, "qos map") ||
			strings.HasPrefix(trimmed, "platform trident mmu queue profile ") && !strings.HasSuffix(trimmed, " apply"); opens {
			depth++
		}
	}
	for ; depth > 0; depth-- {
		out = append(out, "exit")
	}
	return out
}

// mistaken makes a mistake somewhere, or none, and says which.
func (f *testFabric) mistaken(t *testing.T, r *rand.Rand) string {
	t.Helper()
	repo := f.open(t)
	device := repo.Names[r.IntN(len(repo.Names))]
	if r.IntN(3) == 0 {
		return ""
	}
	d := repo.Device(device)
	var lines []string
	switch {
	case d.Host():
		lines = []string{"sudo dcb pfc set dev eth0 prio-pfc 3:off"}
	case d.Platform.V == "sonic":
		port := d.Ports[r.IntN(len(d.Ports))].Name
		lines = []string{[]string{
			"sudo sonic-db-cli CONFIG_DB HSET 'PORT_QOS_MAP|" + port + "' pfc_enable ''",
			"sudo sonic-db-cli CONFIG_DB HSET 'DSCP_TO_TC_MAP|SITE-7' 26 1",
			"sudo sonic-db-cli CONFIG_DB HSET 'TC_TO_QUEUE_MAP|SITE-7' 3 1",
		}[r.IntN(3)]}
	default:
		lines = slices.Concat([]string{"enable", "configure session oops"}, [][]string{
			{"qos map dscp 26 to traffic-class 1"},
			{"qos profile STORAGE-100G", "priority-flow-control priority 3 drop", "exit"},
			{"qos profile STORAGE-100G", "no priority-flow-control", "exit"},
		}[r.IntN(3)], []string{"commit"})
	}
	f.byHand(t, device, lines...)
	return device + ": " + strings.Join(lines, "; ")
}
