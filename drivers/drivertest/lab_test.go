package drivertest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/gnmi"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/drivers/sim/eos"
	"github.com/weirfabric/weir/drivers/sim/linux"
	"github.com/weirfabric/weir/drivers/sim/sonic"
	"github.com/weirfabric/weir/drivers/ssh"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/templates"
)

// scale is how many seconds pass for a device in a second: its waits and timers are real, and short.
const scale = 20

// device is one device of the laboratory, with one setting: the description of a port, or a file.
type device struct {
	*sim.Lab
	endpoint drivers.Endpoint
}

func start(t *testing.T, spec sim.Spec) device {
	t.Helper()
	lab, err := sim.New([]sim.Spec{spec}, sim.Options{
		Scale: scale, Dir: t.TempDir(),
		Personalities: map[string]func(sim.Hardware) sim.Personality{"eos": eos.New, "linux": linux.New, "sonic": sonic.New},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	// The lab is closed by the cleanup, after the connections: the context of a test ends before.
	if err := lab.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	user, password := lab.Credentials()
	overGNMI, overSSH := lab.Endpoint(spec.Name)
	return device{lab, drivers.Endpoint{
		Device: spec.Name, Platform: spec.Platform, GNMI: overGNMI, SSH: overSSH, User: user, Password: drivers.Secret(password),
		TLS: drivers.TLS{CA: lab.CAFile()}, HostKeys: lab.KnownHosts(),
	}}
}

// holds is the setting that the device has.
func (d device) holds(t *testing.T) string {
	t.Helper()
	body, err := d.Config(d.endpoint.Device)
	if err != nil {
		t.Error(err)
	}
	for _, word := range []string{"before", "after"} {
		if strings.Contains(string(body), word) {
			return word
		}
	}
	return string(body)
}

// fault injects what goes wrong with an operation.
func (d device) fault(t *testing.T, on sim.Operation, f drivertest.Fault) {
	t.Helper()
	names := map[drivertest.Fault]sim.FaultKind{drivertest.Hang: sim.Hang, drivertest.Disconnect: sim.Drop}
	if err := d.Inject(sim.Fault{Kind: names[f], Device: d.endpoint.Device, On: on}); err != nil {
		t.Error(err)
	}
}

func ask(via plan.Via, text string) plan.Query {
	return plan.Query{Name: "q", Ways: []plan.Way{{Via: via, Text: text}}}
}

func send(op plan.Op, bodies ...string) plan.Chunk {
	var c plan.Chunk
	for _, b := range bodies {
		c.Send = append(c.Send, plan.Message{Op: op, Body: b})
	}
	return c
}

func TestSessionsOnTheLaboratorysEOS(t *testing.T) {
	drivertest.Run(t, true, func(t *testing.T) drivertest.Harness {
		d := start(t, sim.Spec{
			Name: "leaf1", Platform: "eos", SKU: "DCS-7060CX-32S", Ports: []sim.PortSpec{{Name: "Ethernet1/1", Speed: 100e9}},
			Files: map[string][]byte{"startup-config": []byte("hostname leaf1\n!\ninterface Ethernet1/1\n   description before\n!\nend\n")},
		})
		other := d.endpoint
		other.HostKeys = start(t, sim.Spec{Name: "leaf1", Platform: "eos", SKU: "DCS-7060CX-32S"}).KnownHosts()
		return drivertest.Harness{
			Dialer: ssh.Dialer{Packs: templates.FS}, Endpoint: d.endpoint, Stranger: other, Route: plan.SSHSession,
			Good:   send(plan.Line, "interface Ethernet1/1", "description after"),
			Bad:    send(plan.Line, "interface Ethernet1/1", "description after", "priority-flow-control perhaps"),
			Query:  ask(plan.SSH, "show running-config"),
			Absent: ask(plan.SSH, "show nothing of the kind"),
			Holds:  func() string { return d.holds(t) },
			Fault:  func(f drivertest.Fault) { d.fault(t, sim.Commit, f) },
			Expire: func() { d.pass(t, 21*time.Second) },
		}
	})
}

// pass waits until device time has passed.
func (d device) pass(t *testing.T, span time.Duration) {
	t.Helper()
	select {
	case <-time.After(span / scale):
	case <-t.Context().Done():
	}
}

func leaf(t *testing.T) device {
	t.Helper()
	return start(t, sim.Spec{
		Name: "leaf1", Platform: "sonic", SKU: "Mellanox-SN4600C-C64", Ports: []sim.PortSpec{{Name: "Ethernet0", Alias: "etp1", Speed: 100e9}},
		Files: map[string][]byte{"config_db.json": []byte(`{"PORT": {"Ethernet0": {"admin_status": "up", "alias": "etp1", "lanes": "0", "speed": "100000", "description": "before"}}}`)},
	})
}

func TestSetsOnTheLaboratorysSONiC(t *testing.T) {
	const port = "sonic-db:/CONFIG_DB/localhost/PORT/Ethernet0"
	drivertest.Run(t, false, func(t *testing.T) drivertest.Harness {
		d := leaf(t)
		other := d.endpoint
		other.TLS.ServerName = "spine1.example.net"
		set := func(field, value string) plan.Chunk {
			return plan.Chunk{Send: []plan.Message{{Op: plan.SetUpdate, Path: port + "/" + field, Body: `"` + value + `"`}}}
		}
		return drivertest.Harness{
			Dialer: gnmi.Dialer{Packs: templates.FS}, Endpoint: d.endpoint, Stranger: other, Route: plan.GNMISet,
			Good:   set("description", "after"),
			Bad:    set("admin_status", "sideways"),
			Query:  ask(plan.GNMI, port),
			Absent: ask(plan.GNMI, "sonic-db:/CONFIG_DB/localhost/QUEUE"),
			Holds:  func() string { return d.holds(t) },
			Fault:  func(f drivertest.Fault) { d.fault(t, sim.Set, f) },
		}
	})
}

func TestCommandsOnTheLaboratorysSONiC(t *testing.T) {
	drivertest.Run(t, false, func(t *testing.T) drivertest.Harness {
		d := leaf(t)
		other := d.endpoint
		other.HostKeys = leaf(t).KnownHosts()
		return drivertest.Harness{
			Dialer: ssh.Dialer{Packs: templates.FS}, Endpoint: d.endpoint, Stranger: other, Route: plan.SSHBulk,
			Good:   send(plan.Run, "sudo sonic-db-cli CONFIG_DB HSET 'PORT|Ethernet0' description after"),
			Bad:    send(plan.Run, "config save -y"), // without sudo
			Query:  ask(plan.SSH, "sonic-cfggen -d --print-data"),
			Absent: ask(plan.SSH, "cat /etc/nothing"),
			Holds:  func() string { return d.holds(t) },
			Fault:  func(f drivertest.Fault) { d.fault(t, sim.Session, f) },
		}
	})
}

const hostFile = "/etc/modprobe.d/weir.conf"

func host(t *testing.T) device {
	t.Helper()
	return start(t, sim.Spec{
		Name: "gpu1", Platform: "linux", Host: true, Ports: []sim.PortSpec{{Name: "eth0", Speed: 100e9, RDMA: "mlx5_0"}},
		Files: map[string][]byte{hostFile: []byte("# before\n")},
	})
}

func TestCommandsOnTheLaboratorysLinux(t *testing.T) {
	drivertest.Run(t, false, func(t *testing.T) drivertest.Harness {
		d := host(t)
		other := d.endpoint
		other.HostKeys = host(t).KnownHosts()
		return drivertest.Harness{
			Dialer: ssh.Dialer{Packs: templates.FS}, Endpoint: d.endpoint, Stranger: other, Route: plan.SSHShell,
			Good:   send(plan.Run, "echo '# after' > "+hostFile),
			Bad:    send(plan.Run, "modprobe no-such-module"),
			Query:  ask(plan.SSH, "cat "+hostFile),
			Absent: ask(plan.SSH, "cat /etc/nothing"),
			Holds:  func() string { return d.holds(t) },
			Fault:  func(f drivertest.Fault) { d.fault(t, sim.Set, f) },
		}
	})
}

func TestAFileOnTheLaboratorysLinuxIsWrittenByRoot(t *testing.T) {
	d := host(t)
	target, err := ssh.Dialer{Packs: templates.FS}.Dial(t.Context(), d.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	write := plan.Chunk{Send: []plan.Message{{Op: plan.Write, Path: hostFile, Body: "# it's after\n"}}}
	if err := target.Set(t.Context(), write, plan.Pending{Device: "gpu1", Route: plan.SSHShell}); err != nil {
		t.Fatal(err)
	}
	got, err := target.Get(t.Context(), []plan.Query{ask(plan.SSH, "cat "+hostFile)})
	if err != nil {
		t.Fatal(err)
	}
	if string(got[0].Body) != "# it's after\n" {
		t.Errorf("got %q", got[0].Body)
	}
}
