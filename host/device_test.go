package host_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/drivers/sim/linux"
	driver "github.com/weirfabric/weir/drivers/ssh"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/render/dialecttest"
	"github.com/weirfabric/weir/templates"
)

// hardware does nothing.
type hardware struct{ spec sim.Spec }

func (h hardware) Spec() sim.Spec                                 { return h.spec }
func (hardware) Apply(sim.Behaviour)                              {}
func (hardware) Counters(string) sim.Counters                     { return sim.Counters{Up: true} }
func (hardware) Flap(string)                                      {}
func (hardware) Now() time.Time                                   { return time.Unix(0, 0) }
func (hardware) Sleep(ctx context.Context, d time.Duration) error { return ctx.Err() }
func (hardware) Fault(sim.Operation) sim.Fault                    { return sim.Fault{} }

// device is a host of the lab, talked to over SSH as real ones are.
type device struct {
	t      *testing.T
	target drivers.Target
}

// start serves a host that has the files, and boots it once they are there. Others have configured a few things on it.
func start(t *testing.T, h *fabric.Host, files []render.File) dialecttest.Device {
	t.Helper()
	return startWith(t, h, files, nil, "dcb app add dev "+h.NICs[0].Name+" dgram-port-prio 4791:3")
}

// startUpstream is start of a host whose NICs follow the kernel's own mlx5 driver, which takes entries of DSCP only.
func startUpstream(t *testing.T, h *fabric.Host, files []render.File) dialecttest.Device {
	t.Helper()
	return startWith(t, h, files, map[string]string{"/lab/nic": "upstream"}, "true")
}

func startWith(t *testing.T, h *fabric.Host, files []render.File, more map[string]string, foreign string) dialecttest.Device {
	t.Helper()
	spec := sim.Spec{Name: h.Name, Platform: "linux", Host: true, Files: map[string][]byte{}}
	for name, body := range more {
		spec.Files[name] = []byte(body)
	}
	for _, n := range h.NICs {
		spec.Ports = append(spec.Ports, sim.PortSpec{Name: n.Name, RDMA: n.RDMA, Speed: n.Speed, PeerDevice: "leaf1", PeerPort: "Ethernet0"})
	}
	for _, f := range files {
		spec.Files["/"+f.Name] = f.Body
	}
	d := serve(t, linux.New(hardware{spec}), "root")
	commands := []string{foreign, "echo 'vm.overcommit_memory = 1' > /etc/sysctl.d/20-site.conf"}
	if slices.ContainsFunc(files, func(f render.File) bool { return strings.HasSuffix(f.Name, ".service") }) {
		commands = append(commands, "systemctl enable --now weir-host.service")
	}
	for _, c := range commands {
		if err := d.Apply([]plan.Message{{Op: plan.Run, Body: c}}); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// serve answers on loopback until the test ends.
func serve(t *testing.T, p sim.Personality, user string) *device {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- p.Serve(ctx, sim.Services{SSH: listener, HostKey: signer, User: user, Password: "lab"})
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	target, err := driver.Dialer{Packs: templates.FS}.Dial(t.Context(), drivers.Endpoint{
		Device: "gpu1", Platform: "linux", SSH: listener.Addr().String(), User: user, Password: "lab",
		Insecure: drivers.Insecure{AnyHostKey: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { target.Close() })
	return &device{t, target}
}

func (d *device) Answers(queries []plan.Query) []plan.Answer {
	d.t.Helper()
	answers, err := d.target.Get(d.t.Context(), queries)
	if err != nil {
		d.t.Fatal(err)
	}
	return answers
}

func (d *device) Apply(messages []plan.Message) error {
	return d.target.Set(d.t.Context(), plan.Chunk{Send: messages}, plan.Pending{})
}

// Foreign is what others configured.
func (d *device) Foreign() []byte {
	return []byte(d.ask("cat /etc/modules-load.d/site.conf /etc/sysctl.d/20-site.conf; dcb app show dev eth0 | grep dgram || true"))
}

func (d *device) ask(command string) string {
	d.t.Helper()
	a := d.Answers([]plan.Query{{Name: "x", Ways: []plan.Way{{Via: plan.SSH, Text: command}}}})
	return string(a[0].Body)
}
