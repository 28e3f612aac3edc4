package linux

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/qos"
)

// bench is hardware that does nothing but remember, on the clock of the test.
type bench struct {
	spec sim.Spec

	mu       sync.Mutex
	applied  sim.Behaviour
	counters sim.Counters
	fault    sim.FaultKind
	flaps    int
}

func newBench(files map[string]string) *bench {
	b := &bench{counters: sim.Counters{Up: true}, spec: sim.Spec{
		Name: "gpu1", Platform: "linux", Host: true,
		Ports: []sim.PortSpec{{Name: "eth0", RDMA: "mlx5_0", Speed: 400e9, PeerDevice: "leaf1", PeerPort: "Ethernet1"}},
		Files: map[string][]byte{},
	}}
	for name, body := range files {
		b.spec.Files[name] = []byte(body)
	}
	return b
}

func (b *bench) Spec() sim.Spec { return b.spec }
func (b *bench) Apply(x sim.Behaviour) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.applied = x
}

// port is what the NIC was told to do.
func (b *bench) port() sim.PortBehaviour {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.applied.Ports["eth0"]
}

func (b *bench) classes() [64]qos.Priority {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.applied.Classify
}

func (b *bench) Counters(string) sim.Counters {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counters
}
func (b *bench) Flap(string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flaps++
}
func (b *bench) Now() time.Time { return time.Now() }
func (b *bench) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
func (b *bench) Fault(on sim.Operation) sim.Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	if on != sim.Set {
		return sim.Fault{}
	}
	f := b.fault
	b.fault = sim.NoFault
	return sim.Fault{Kind: f, For: time.Minute}
}

// server is a host that root is logged in to.
func server(b *bench) *Device {
	d := New(b).(*Device)
	d.user = "root"
	return d
}

// said is how a command ended.
type said struct {
	Out, Err string
	Status   int
}

func run(t *testing.T, d *Device, command, stdin string) said {
	t.Helper()
	var out, errs bytes.Buffer
	status, err := d.exec(t.Context(), sim.Command{Line: command, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs})
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return said{out.String(), errs.String(), status}
}

// must runs commands that work in silence.
func must(t *testing.T, d *Device, commands ...string) {
	t.Helper()
	for _, c := range commands {
		if diff := cmp.Diff(run(t, d, c, ""), said{}); diff != "" {
			t.Errorf("%s: got -, want nothing:\n%s", c, diff)
		}
	}
}

func TestTheShellUnderstandsWhatIsSentToHosts(t *testing.T) {
	for command, want := range map[string]said{
		"echo one two":                                  {Out: "one two\n"},
		"echo 'one  two' \"three\"\\ four":              {Out: "one  two three four\n"},
		"printf '%s\\n' a b":                            {Out: "a\nb\n"},
		"true && echo yes || echo no":                   {Out: "yes\n"},
		"false && echo yes || echo no":                  {Out: "no\n"},
		"false; echo $?":                                {Out: "1\n"},
		"false; echo on":                                {Out: "on\n"},
		"set -e; false; echo on":                        {Status: 1},
		"sh -c 'echo a; echo b'":                        {Out: "a\nb\n"},
		"sh -ec 'false\necho b'":                        {Status: 1},
		"sudo -n sh -c 'id -u'":                         {Out: "0\n"},
		"echo x > /tmp/f && cat /tmp/f":                 {Out: "x\n"},
		"echo x > /tmp/f; echo y >> /tmp/f; cat /tmp/f": {Out: "x\ny\n"},
		"cat /nowhere":                                  {Err: "cat: /nowhere: No such file or directory\n", Status: 1},
		"cat /nowhere 2>/dev/null || echo gone":         {Out: "gone\n"},
		"cat /nowhere 2>&1":                             {Out: "cat: /nowhere: No such file or directory\n", Status: 1},
		"frobnicate -x":                                 {Err: "sh: 1: frobnicate: not found\n", Status: 127},
		"echo a # not b":                                {Out: "a\n"},
		"{ echo a; echo b; } > /tmp/g; cat /tmp/g":      {Out: "a\nb\n"},
		"for i in 1 2; do echo $i; done":                {Out: "1\n2\n"},
		"echo 'open":                                    {Err: "sh: 1: Syntax error: reached EOF without closing quote `'`\n", Status: 2},
		"cat /proc/modules | grep -c mlx5 | wc -l":      {Out: "1\n"},
		"lsmod | grep -qw mlx5_ib && echo loaded":       {Out: "loaded\n"},
		"test -e /etc/hostname && [ ! -d /etc/hostname ] && echo file": {Out: "file\n"},
		"cat /sys/class/net/*/mtu":                                     {Out: "1500\n65536\n"},
		"echo '*'":                                                     {Out: "*\n"},
		"":                                                             {},
	} {
		if diff := cmp.Diff(run(t, server(newBench(nil)), command, ""), want); diff != "" {
			t.Errorf("%s: got -, want +:\n%s", command, diff)
		}
	}
}

func TestFilesAreWrittenFromStandardInput(t *testing.T) {
	d := New(newBench(nil)).(*Device)
	d.user = "admin"
	const body = "options mlx5_core x=1\n"
	for _, c := range []string{"cat > /etc/modprobe.d/weir.conf.weir", "tee /etc/weir"} {
		if got := run(t, d, c, body); got.Status == 0 {
			t.Errorf("%s: somebody without privileges wrote it", c)
		}
		run(t, d, "sudo -n sh -c '"+c+"'", body)
	}
	run(t, d, "sudo -S -p '' sh -c 'cat > /etc/second'", "secret\n"+body)
	if diff := cmp.Diff(run(t, d, "wc -c < /etc/modprobe.d/weir.conf.weir", ""), said{Out: "22\n"}); diff != "" {
		t.Errorf("length: got -, want +:\n%s", diff)
	}
	run(t, d, "sudo -n sh -c 'mv -f /etc/modprobe.d/weir.conf.weir /etc/modprobe.d/weir.conf'", "")
	for _, name := range []string{"/etc/modprobe.d/weir.conf", "/etc/weir", "/etc/second"} {
		if diff := cmp.Diff(run(t, d, "cat "+name, ""), said{Out: body}); diff != "" {
			t.Errorf("%s: got -, want +:\n%s", name, diff)
		}
	}
	if got := run(t, d, "ls /etc/modprobe.d", ""); got.Out != "weir.conf\n" {
		t.Errorf("got %q", got.Out)
	}
	run(t, d, "sudo rm -f /etc/weir /etc/none", "")
	if got := run(t, d, "cat /etc/weir", ""); got.Status != 1 {
		t.Errorf("the removed file answers: %+v", got)
	}
}

func TestDCBIsSetAndShown(t *testing.T) {
	b := newBench(nil)
	d := server(b)
	must(t, d,
		"dcb dcbx set dev eth0 host ieee",
		"dcb pfc set dev eth0 prio-pfc all:off 3:on",
		"dcb ets set dev eth0 willing off prio-tc all:0 3:3 6:6 tc-tsa all:ets 6:strict tc-bw all:0 0:50 3:50",
		"dcb app add dev eth0 dscp-prio 26:4",
		"dcb app replace dev eth0 dscp-prio 26:3 48:6",
		"dcb buffer set dev eth0 prio-buffer all:0 3:1 buffer-size 0:80000 1:120000",
	)
	for command, want := range map[string]said{
		"dcb -j dcbx show dev eth0":                {Out: `{"host":true,"ieee":true}` + "\n"},
		"dcb -j pfc show dev eth0":                 {Out: `{"pfc_cap":8,"macsec_bypass":false,"delay":0,"prio_pfc":[false,false,false,true,false,false,false,false]}` + "\n"},
		"dcb -j ets show dev eth0":                 {Out: `{"willing":false,"ets_cap":8,"cbs":false,"tc_bw":[50,0,0,50,0,0,0,0],"pg_bw":[0,0,0,0,0,0,0,0],"tc_tsa":["ets","ets","ets","ets","ets","ets","strict","ets"],"prio_tc":[0,0,0,3,0,0,6,0],"reco_tc_bw":[0,0,0,0,0,0,0,0],"reco_tc_tsa":["strict","strict","strict","strict","strict","strict","strict","strict"],"reco_prio_tc":[0,0,0,0,0,0,0,0]}` + "\n"},
		"dcb -j -N app show dev eth0":              {Out: `{"dscp_prio":[[26,3],[48,6]]}` + "\n"},
		"dcb -N app show dev eth0":                 {Out: "dscp-prio 26:3 48:6\n"},
		"dcb -j buffer show dev eth0":              {Out: `{"prio_buffer":[0,0,0,1,0,0,0,0],"buffer_size":[80000,120000,0,0,0,0,0,0],"total_size":262016}` + "\n"},
		"dcb pfc show dev eth0":                    {Out: "pfc-cap 8 macsec-bypass off delay 0\nprio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off\n"},
		"dcb pfc show dev eth9":                    {Err: "Attribute read: No such device\n", Status: 1},
		"dcb ets set dev eth0 tc-bw 0:40":          {Err: "Bandwidth percentages in tc-bw sum to 90%, expected 100%\n", Status: 1},
		"dcb app add dev eth0 dscp-prio 26:3":      {Err: "Attribute write: File exists\n", Status: 1},
		"dcb app del dev eth0 dscp-prio 26:5":      {Err: "Attribute write: No such file or directory\n", Status: 1},
		"dcb app add dev eth0 dscp-prio 64:3":      {Err: "Invalid mapping: 64:3\n", Status: 1},
		"dcb pfc set dev eth0 prio-pfc 8:on":       {Err: "8 is invalid\n", Status: 1},
		"dcb apptrust set dev eth0 order dscp pcp": {Err: "Object \"apptrust\" is unknown, try \"dcb help\".\n", Status: 1},
	} {
		if diff := cmp.Diff(run(t, d, command, ""), want); diff != "" {
			t.Errorf("%s: got -, want +:\n%s", command, diff)
		}
	}
	got := b.port()
	if got.PFC != qos.Priorities(3) || !got.Queues[6].Strict || got.Queues[3].Weight != 50 || got.FlowControl {
		t.Errorf("behaviour: got %+v", got)
	}
	if b.classes()[26] != 3 || b.classes()[48] != 6 || b.classes()[0] != 0 {
		t.Errorf("classes: got %v", b.classes())
	}
	must(t, d, "dcb app add dev eth0 dscp-prio 26:4", "dcb app del dev eth0 dscp-prio 26:4", "dcb app flush dev eth0")
	if got := run(t, d, "dcb -j app show dev eth0", ""); got.Out != "{}\n" {
		t.Errorf("after flush: got %q", got.Out)
	}
}

func TestRDMADefaultsStandInConfigfs(t *testing.T) {
	b := newBench(nil)
	d := server(b)
	const dir = "/sys/kernel/config/rdma_cm/mlx5_0"
	if got := run(t, d, "mkdir "+dir, ""); got.Status != 1 || !strings.Contains(got.Err, "No such file or directory") {
		t.Errorf("without the module: got %+v", got)
	}
	must(t, d, "modprobe rdma_cm", "mkdir -p "+dir)
	if got := run(t, d, "cat "+dir+"/ports/1/default_roce_mode "+dir+"/ports/1/default_roce_tos", ""); got.Out != "RoCE v2\n0\n" {
		t.Errorf("defaults: got %+v", got)
	}
	must(t, d, "echo 106 > "+dir+"/ports/1/default_roce_tos", "echo 'IB/RoCE v1' > "+dir+"/ports/1/default_roce_mode")
	if got := run(t, d, "echo RoCEv2 > "+dir+"/ports/1/default_roce_mode", ""); got.Status == 0 || !strings.Contains(got.Err, "Invalid argument") {
		t.Errorf("a mode that does not exist: got %+v", got)
	}
	if got := run(t, d, "echo 256 > "+dir+"/ports/1/default_roce_tos", ""); got.Status == 0 {
		t.Errorf("a type of service of nine bits: got %+v", got)
	}
	if got := run(t, d, "mkdir /sys/kernel/config/rdma_cm/mlx5_9", ""); !strings.Contains(got.Err, "No such device") {
		t.Errorf("a device that does not exist: got %+v", got)
	}
	if p := b.port(); p.TOS != 106 || !p.ECN {
		t.Errorf("behaviour: got %+v", p)
	}
	must(t, d, "rmdir "+dir)
	if p := b.port(); p.TOS != 106 {
		t.Error("rmdir reset the type of service, which the kernel does not do")
	}
	if got := run(t, d, "cat "+dir+"/ports/1/default_roce_tos", ""); got.Status != 1 {
		t.Errorf("the removed directory answers: %+v", got)
	}
	must(t, d, "mkdir "+dir)
	if got := run(t, d, "cat "+dir+"/ports/1/default_roce_tos", ""); got.Out != "106\n" {
		t.Errorf("got %+v", got)
	}
}

func TestDCQCNFollowsItsFiles(t *testing.T) {
	b := newBench(nil)
	d := server(b)
	must(t, d, "modprobe rdma_cm", "mkdir -p /sys/kernel/config/rdma_cm/mlx5_0", "dcb app add dev eth0 dscp-prio 26:3",
		"echo 106 > /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos")
	const dir = "/sys/class/net/eth0/ecn/"
	if got := run(t, d, "grep -H . "+dir+"roce_np/enable/3 "+dir+"roce_np/cnp_dscp", ""); got.Out != dir+"roce_np/enable/3:1\n"+dir+"roce_np/cnp_dscp:48\n" {
		t.Errorf("got %+v", got)
	}
	if !b.port().ECN {
		t.Error("DCQCN is off to begin with")
	}
	must(t, d, "echo 46 > "+dir+"roce_np/cnp_dscp", "echo 0 > "+dir+"roce_rp/enable/3")
	if p := b.port(); p.ECN || p.CNP != 46 {
		t.Errorf("got %+v", p)
	}
	if got := run(t, d, "echo on > "+dir+"roce_rp/enable/3", ""); got.Status == 0 {
		t.Errorf("a word is taken for a number: %+v", got)
	}
}

func TestAModuleInUseStaysLoaded(t *testing.T) {
	d := server(newBench(nil))
	must(t, d, "modprobe rdma_ucm", "mkdir /sys/kernel/config/rdma_cm/mlx5_0", "echo 104 > /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos")
	if got := run(t, d, "modprobe -r rdma_cm", ""); got.Status != 1 || got.Err != "modprobe: FATAL: Module rdma_cm is in use.\n" {
		t.Errorf("got %+v", got)
	}
	must(t, d, "modprobe -r rdma_ucm", "modprobe -r rdma_cm", "modprobe rdma-cm", "mkdir /sys/kernel/config/rdma_cm/mlx5_0")
	if got := run(t, d, "cat /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos", ""); got.Out != "0\n" {
		t.Errorf("the module remembers what it was told before it was unloaded: %+v", got)
	}
	if got := run(t, d, "modprobe nothing", ""); got.Status != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestLinksAndPause(t *testing.T) {
	b := newBench(nil)
	d := server(b)
	if !b.port().FlowControl {
		t.Error("the driver starts with 802.3x off")
	}
	must(t, d, "ip link set dev eth0 mtu 4200", "ethtool -A eth0 rx off tx off")
	for command, want := range map[string]string{
		"ethtool -a eth0":        "Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\toff\nTX:\t\toff\n\n",
		"ethtool --json -a eth0": `[{"autonegotiate":false,"ifname":"eth0","rx":false,"tx":false}]` + "\n",
		"cat /sys/class/net/eth0/mtu /sys/class/net/eth0/operstate": "4200\nup\n",
		"rdma -j link": `[{"ifindex":0,"ifname":"mlx5_0","netdev":"eth0","netdev_index":2,"physical_state":"LINK_UP","port":1,"state":"ACTIVE"}]` + "\n",
	} {
		if got := run(t, d, command, ""); got.Out != want {
			t.Errorf("%s: got %+v, want %q", command, got, want)
		}
	}
	if got := run(t, d, "ip -j link show dev eth0", ""); !strings.Contains(got.Out, `"mtu":4200`) || !strings.Contains(got.Out, `"operstate":"UP"`) {
		t.Errorf("got %+v", got)
	}
	if got := run(t, d, "ip -j link show dev eth9", ""); got.Status != 1 {
		t.Errorf("got %+v", got)
	}
	if got := run(t, d, "ip link set dev eth0 mtu 10000", ""); got.Status != 2 {
		t.Errorf("got %+v", got)
	}
	if p := b.port(); p.MTU != 4200 || p.FlowControl {
		t.Errorf("behaviour: got %+v", p)
	}
}

func TestPauseCountersExistWhilePFCIsOn(t *testing.T) {
	b := newBench(nil)
	b.counters.PFCReceived[3], b.counters.CNPSent, b.counters.OutOfSequence = 7, 8, 9
	b.counters.PausedReceived[3] = 3 * time.Millisecond
	d := server(b)
	if got := run(t, d, "ethtool -S eth0", ""); strings.Contains(got.Out, "prio3_pause") || !strings.Contains(got.Out, "rx_global_pause: 0\n") {
		t.Errorf("without PFC: got\n%s", got.Out)
	}
	must(t, d, "dcb pfc set dev eth0 prio-pfc 3:on")
	got := run(t, d, "ethtool -S eth0", "").Out
	for _, want := range []string{"     rx_prio3_pause: 7\n", "     rx_prio3_pause_duration: 3000\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "prio4_pause") || strings.Contains(got, "global_pause") {
		t.Errorf("with PFC on priority 3: got\n%s", got)
	}
	const dir = "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/"
	if got := run(t, d, "cat "+dir+"np_cnp_sent "+dir+"out_of_sequence", ""); got.Out != "8\n9\n" {
		t.Errorf("got %+v", got)
	}
	if got := run(t, d, "grep -H . "+dir+"np_cnp_*", ""); got.Out != dir+"np_cnp_sent:8\n" {
		t.Errorf("got %+v", got)
	}
}

func TestARebootForgetsWhatOnlyTheKernelKnew(t *testing.T) {
	b := newBench(map[string]string{
		"/etc/modules-load.d/weir.conf":         "# weir\nrdma_ucm\n",
		"/etc/systemd/system/weir-roce.service": "[Service]\nType=oneshot\nExecStart=/bin/sh -e /usr/local/sbin/weir-roce\n",
		"/usr/local/sbin/weir-roce":             "#!/bin/sh\ndcb pfc set dev eth0 prio-pfc all:off 3:on\nip link set dev eth0 mtu 9000\n",
	})
	d := server(b)
	if got := run(t, d, "grep -c '^rdma_cm ' /proc/modules", ""); got.Out != "1\n" {
		t.Errorf("modules-load.d was not read: %+v", got)
	}
	must(t, d, "dcb pfc set dev eth0 prio-pfc 4:on", "echo keep > /etc/keep", "echo lose > /run/lose")
	d.Restart()
	if b.port().PFC != 0 {
		t.Error("PFC survived the reboot")
	}
	if got := run(t, d, "cat /etc/keep; cat /run/lose", ""); got.Out != "keep\n" || got.Status != 1 {
		t.Errorf("got %+v", got)
	}
	if got := run(t, d, "systemctl is-enabled weir-roce", ""); got.Out != "disabled\n" || got.Status != 1 {
		t.Errorf("got %+v", got)
	}
	must(t, d, "systemctl daemon-reload", "systemctl enable weir-roce.service")
	if b.port().PFC != 0 {
		t.Error("enable started the unit")
	}
	d.Restart()
	if p := b.port(); p.PFC != qos.Priorities(3) || p.MTU != 9000 {
		t.Errorf("the enabled unit did not run: %+v", p)
	}
	if got := run(t, d, "systemctl enable none", ""); got.Status != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestAChangeGoesWrongAsAsked(t *testing.T) {
	for fault, c := range map[sim.FaultKind]struct {
		err     error
		status  int
		now, in bool // has it taken effect at once, and after a while
	}{
		sim.Reject:     {status: 1},
		sim.Hang:       {err: sim.ErrHang, in: true},
		sim.Drop:       {err: sim.ErrDrop, now: true, in: true},
		sim.DropBefore: {err: sim.ErrDrop},
		sim.Reboot:     {err: sim.ErrDrop},
		sim.Partial:    {now: true, in: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(nil)
			d := server(b)
			b.fault = fault
			var out bytes.Buffer
			status, err := d.exec(t.Context(), sim.Command{Line: "ip link set dev eth0 mtu 9000", Stdin: &out, Stdout: &out, Stderr: &out})
			if status != c.status || !errors.Is(err, c.err) {
				t.Errorf("%s: got %d and %v, want %d and %v", fault, status, err, c.status, c.err)
			}
			if now := b.port().MTU == 9000; now != c.now {
				t.Errorf("%s: in effect at once: %v", fault, now)
			}
			time.Sleep(time.Minute)
			if in := b.port().MTU == 9000; in != c.in {
				t.Errorf("%s: in effect in the end: %v", fault, in)
			}
			if next := run(t, d, "ip link set dev eth0 mtu 4200", ""); (next.Status == 0) == (fault == sim.Partial) {
				t.Errorf("%s: the next change ended with %+v", fault, next)
			}
		})
	}
}
