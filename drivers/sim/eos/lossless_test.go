package eos

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/drivers/sim/linux"
)

// hostCommands make a host send its RDMA traffic with DSCP 26 and ECT, and keep priority 3 lossless.
const hostCommands = `modprobe rdma_cm && mkdir -p /sys/kernel/config/rdma_cm/mlx5_0 &&
echo 106 > /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos &&
dcb app replace dev eth0 dscp-prio 26:3 48:6 && dcb pfc set dev eth0 prio-pfc all:off 3:on &&
ip link set dev eth0 mtu 9000 && ethtool -A eth0 rx off tx off`

// pod is one switch with hosts, all of them real devices of the lab. Device time runs a hundred times faster.
func pod(t *testing.T) *sim.Lab {
	t.Helper()
	leaf := sim.Spec{Name: "leaf1", Platform: "eos", SKU: "DCS-7060CX-32S"}
	var specs []sim.Spec
	for i := 1; i <= 4; i++ {
		host, port := fmt.Sprintf("gpu%d", i), fmt.Sprintf("Ethernet%d/1", i)
		leaf.Ports = append(leaf.Ports, sim.PortSpec{Name: port, Speed: 100e9, Cable: 3, PeerDevice: host, PeerPort: "eth0"})
		specs = append(specs, sim.Spec{Name: host, Platform: "linux", Host: true, Ports: []sim.PortSpec{
			{Name: "eth0", RDMA: "mlx5_0", Speed: 100e9, Cable: 3, PeerDevice: "leaf1", PeerPort: port},
		}})
	}
	lab, err := sim.New(append(specs, leaf), sim.Options{
		Scale: 100, Personalities: map[string]func(sim.Hardware) sim.Personality{"eos": New, "linux": linux.New},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := lab.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	return lab
}

// over runs a command on a device over SSH.
func over(t *testing.T, lab *sim.Lab, device, command string) string {
	t.Helper()
	_, addr := lab.Endpoint(device)
	user, password := lab.Credentials()
	known, err := knownhosts.New(lab.KnownHosts())
	if err != nil {
		t.Fatal(err)
	}
	client, err := ssh.Dial("tcp", addr, &ssh.ClientConfig{User: user, Auth: []ssh.AuthMethod{ssh.Password(password)}, HostKeyCallback: known})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	session, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	out, err := session.CombinedOutput(command)
	if err != nil {
		t.Fatalf("%s: %v: %s", device, err, out)
	}
	return string(out)
}

// after is the counters of a port once some device time has passed.
func after(t *testing.T, lab *sim.Lab, port string) sim.Counters {
	t.Helper()
	for end := lab.Now().Add(5 * time.Second); lab.Now().Before(end); {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("the test ended")
		}
	}
	c, err := lab.Counters("leaf1", port)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAnIncastDropsUntilTheFabricIsLossless(t *testing.T) {
	lab := pod(t)
	for i := 1; i <= 4; i++ {
		over(t, lab, fmt.Sprintf("gpu%d", i), "sudo -n sh -c '"+hostCommands+"'")
	}
	if err := lab.SetTraffic(sim.Incast, "gpu1"); err != nil {
		t.Fatal(err)
	}
	if c := after(t, lab, "Ethernet1/1"); c.QueueDropped[3] == 0 {
		t.Errorf("a switch as it comes from the factory drops nothing in an incast: %+v", c)
	}
	lines := append([]string{"configure session weir-1"}, profile...)
	for i := 2; i <= 4; i++ {
		lines = append(lines, fmt.Sprintf("interface Ethernet%d/1", i), "mtu 9214", "service-profile ROCE")
	}
	if said := over(t, lab, "leaf1", strings.Join(append(lines, "commit"), "\n")); said != "" {
		t.Fatalf("the switch says %s", said)
	}
	before := after(t, lab, "Ethernet1/1")
	now := after(t, lab, "Ethernet1/1")
	if now.QueueDropped[3] != before.QueueDropped[3] || now.GroupDropped != before.GroupDropped {
		t.Errorf("the lossless class drops: before %+v, then %+v", before, now)
	}
	if now.ECNMarked[3] == before.ECNMarked[3] {
		t.Error("nothing is marked in an incast")
	}
	if err := lab.SetTraffic(sim.NICStorm, "gpu1"); err != nil {
		t.Fatal(err)
	}
	if c := after(t, lab, "Ethernet1/1"); c.StormsDetected[3] == 0 || c.PFCReceived[3] == 0 {
		t.Errorf("the watchdog sees no storm: %+v", c)
	}
	shown := over(t, lab, "leaf1", "show priority-flow-control counters watchdog | json")
	if !strings.Contains(shown, `"stuckCount": 1`) {
		t.Errorf("the watchdog's counters are not shown: %s", shown)
	}
}
