package eos

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/scrapli/scrapligo/driver/network"
	"github.com/scrapli/scrapligo/driver/options"
	"github.com/scrapli/scrapligo/platform"

	"github.com/weirfabric/weir/drivers/sim"
)

// newLab is a laboratory of two switches that are cabled to each other. Device time runs a hundred times faster.
func newLab(t *testing.T) *sim.Lab {
	t.Helper()
	specs := []sim.Spec{
		{Name: "leaf1", Platform: "eos", SKU: "DCS-7060CX-32S", Ports: []sim.PortSpec{
			{Name: "Ethernet1/1", Speed: 100e9, Cable: 3, PeerDevice: "leaf2", PeerPort: "Ethernet1/1"},
			{Name: "Ethernet2/1", Speed: 100e9},
		}},
		{Name: "leaf2", Platform: "eos", SKU: "DCS-7280CR3-32P4", Ports: []sim.PortSpec{
			{Name: "Ethernet1/1", Speed: 100e9, Cable: 3, PeerDevice: "leaf1", PeerPort: "Ethernet1/1"},
		}},
	}
	lab, err := sim.New(specs, sim.Options{Scale: 100, Personalities: map[string]func(sim.Hardware) sim.Personality{"eos": New}})
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	return lab
}

// scrapli opens a terminal with scrapligo and its own idea of an Arista switch.
func scrapli(t *testing.T, lab *sim.Lab, device string) *network.Driver {
	t.Helper()
	_, addr := lab.Endpoint(device)
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	portNumber, err := strconv.Atoi(portText)
	if err != nil {
		t.Fatal(err)
	}
	user, password := lab.Credentials()
	p, err := platform.NewPlatform("arista_eos", host,
		options.WithPort(portNumber), options.WithTransportType("standard"), options.WithAuthUsername(user),
		options.WithAuthPassword(password), options.WithSSHKnownHostsFile(lab.KnownHosts()), options.WithTimeoutOps(2*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.GetNetworkDriver()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() }) // ends with EOF on a session that is well
	return d
}

func TestScrapligoWorksWithTheDevice(t *testing.T) {
	lab := newLab(t)
	d := scrapli(t, lab, "leaf1")
	r, err := d.SendCommand("show version | json")
	if err != nil || r.Failed != nil || !strings.Contains(r.Result, `"version": "`+Version+`"`) {
		t.Fatalf("show version: got %v, %v and %q", err, r.Failed, r.Result)
	}
	m, err := d.SendConfigs([]string{"interface Ethernet1/1", "mtu 9214", "nonsense"})
	if err != nil || m.Failed == nil || m.Responses[2].Failed == nil || m.Responses[1].Failed != nil {
		t.Fatalf("configuration: got %v and %v", err, m.Failed)
	}
	r, err = d.SendCommand("show running-config")
	if err != nil || !strings.Contains(r.Result, "\n   mtu 9214\n") {
		t.Errorf("running-config: got %v and\n%s", err, r.Result)
	}
}

func TestTwoFamiliesOfASICsDifferInTheirQueues(t *testing.T) {
	lab := newLab(t)
	for device, want := range map[string][2]bool{"leaf1": {true, false}, "leaf2": {false, true}} {
		d := scrapli(t, lab, device)
		m, err := d.SendConfigs([]string{"qos profile x", "uc-tx-queue 3", "qos profile x", "tx-queue 3"})
		if err != nil {
			t.Fatal(err)
		}
		got := [2]bool{m.Responses[1].Failed == nil, m.Responses[3].Failed == nil}
		if got != want {
			t.Errorf("%s: uc-tx-queue and tx-queue are taken: got %v, want %v", device, got, want)
		}
	}
}

func TestCommandsWithoutATerminalAreAnswered(t *testing.T) {
	got := over(t, newLab(t), "leaf1", "enable\nshow hostname\nshow lldp neighbors | include leaf2")
	if diff := cmp.Diff(got, "Hostname: leaf1\nFQDN:     leaf1\nEt1/1         leaf2                    Ethernet1/1         120\n"); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
}
