package sim_test

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/drivers/sim/eos"
	"github.com/weirfabric/weir/drivers/sim/linux"
	"github.com/weirfabric/weir/drivers/sim/sonic"
)

// mixed is a leaf of each switch language, cabled to each other, with a host at each.
func mixed() []sim.Spec {
	port := func(name, device, peer string) sim.PortSpec {
		return sim.PortSpec{Name: name, Speed: 100e9, Cable: 5, RDMA: "mlx5_0", PeerDevice: device, PeerPort: peer}
	}
	return []sim.Spec{
		{Name: "leaf1", Platform: "sonic", SKU: "ACS-MSN4700", Ports: []sim.PortSpec{port("Ethernet0", "host1", "eth1"), port("Ethernet4", "leaf2", "Ethernet1/1")}},
		{Name: "leaf2", Platform: "eos", SKU: "DCS-7060X6-64PE", Ports: []sim.PortSpec{port("Ethernet1/1", "leaf1", "Ethernet4"), port("Ethernet2/1", "host2", "eth1")}},
		{Name: "host1", Platform: "linux", Host: true, Ports: []sim.PortSpec{port("eth1", "leaf1", "Ethernet0")}},
		{Name: "host2", Platform: "linux", Host: true, Ports: []sim.PortSpec{port("eth1", "leaf2", "Ethernet2/1")}},
	}
}

func TestDevicesOfAllKindsShareALabAndEndWithIt(t *testing.T) {
	before := runtime.NumGoroutine()
	lab, err := sim.New(mixed(), sim.Options{Scale: 100, Dir: t.TempDir(), Personalities: map[string]func(sim.Hardware) sim.Personality{
		"sonic": sonic.New, "eos": eos.New, "linux": linux.New,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := lab.SetTraffic(sim.Steady); err != nil {
		t.Fatal(err)
	}
	keys, err := knownhosts.New(lab.KnownHosts())
	if err != nil {
		t.Fatal(err)
	}
	user, password := lab.Credentials()
	for _, spec := range mixed() {
		_, address := lab.Endpoint(spec.Name)
		client, err := ssh.Dial("tcp", address, &ssh.ClientConfig{
			User: user, Auth: []ssh.AuthMethod{ssh.Password(password)}, HostKeyCallback: keys, Timeout: time.Minute,
		})
		if err != nil {
			t.Errorf("%s: %v", spec.Name, err)
			continue
		}
		client.Close()
	}
	for _, at := range [][2]string{{"leaf1", "Ethernet4"}, {"leaf2", "Ethernet1/1"}} {
		c, err := lab.Counters(at[0], at[1])
		if err != nil || !c.Up {
			t.Errorf("%s/%s: up=%v, %v", at[0], at[1], c.Up, err)
		}
	}
	if err := lab.Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines before, %d after:\n%s", before, n, stacks[:runtime.Stack(stacks, true)])
	}
}
