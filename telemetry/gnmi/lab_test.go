package gnmi_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/drivers/sim/eos"
	"github.com/weirfabric/weir/drivers/sim/sonic"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/collect"
	"github.com/weirfabric/weir/telemetry/gnmi"
	"github.com/weirfabric/weir/templates"
)

// login sends the lab's user and password with each call.
type login struct{}

func (login) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"username": "admin", "password": "weir-lab"}, nil
}
func (login) RequireTransportSecurity() bool { return true }

// TestTheSwitchesOfTheLabAreRead subscribes to one simulated switch of each language, as they come from the factory.
func TestTheSwitchesOfTheLabAreRead(t *testing.T) {
	const scale = 50
	lab, err := sim.New([]sim.Spec{
		{Name: "leaf1", Platform: "sonic", SKU: "Mellanox-SN4600C-C64", Ports: []sim.PortSpec{
			{Name: "Ethernet0", Alias: "etp1", Speed: 100e9, Cable: 5, PeerDevice: "leaf2", PeerPort: "Ethernet1/1"}}},
		{Name: "leaf2", Platform: "eos", SKU: "DCS-7060X5-64S", Ports: []sim.PortSpec{
			{Name: "Ethernet1/1", Speed: 100e9, Cable: 5, PeerDevice: "leaf1", PeerPort: "Ethernet0"}}},
	}, sim.Options{Scale: scale, Dir: t.TempDir(), Personalities: map[string]func(sim.Hardware) sim.Personality{"sonic": sonic.New, "eos": eos.New}})
	if err != nil {
		t.Fatal(err)
	}
	defer lab.Close()
	if err := lab.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	pem, err := os.ReadFile(lab.CAFile())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)

	for _, c := range []struct {
		device, platform, port string
		want                   map[string]telemetry.Status
	}{
		{"leaf1", "sonic", "Ethernet0", map[string]telemetry.Status{
			"weir_port_up leaf1/Ethernet0":                                      telemetry.Measured,
			"weir_port_received_bytes_total leaf1/Ethernet0":                    telemetry.Measured,
			"weir_port_pfc_pause_frames_received_total leaf1/Ethernet0/pfc/3":   telemetry.Measured,
			"weir_queue_transmitted_packets_total leaf1/Ethernet0/queue/3":      telemetry.Measured,
			"weir_queue_ecn_marked_packets_total leaf1/Ethernet0/queue/3":       telemetry.Disabled, // as from the factory
			"weir_priority_group_headroom_watermark_bytes leaf1/Ethernet0/pg/3": telemetry.Measured,
		}},
		{"leaf2", "eos", "Ethernet1/1", map[string]telemetry.Status{
			"weir_port_up leaf2/Ethernet1/1":                                    telemetry.Measured,
			"weir_port_transmitted_bytes_total leaf2/Ethernet1/1":               telemetry.Measured,
			"weir_port_pfc_pause_frames_received_total leaf2/Ethernet1/1/pfc/3": telemetry.Measured,
			"weir_port_pfc_pause_seconds_total leaf2/Ethernet1/1/pfc/3":         telemetry.Measured,
			"weir_queue_transmitted_packets_total leaf2/Ethernet1/1/queue/3":    telemetry.Measured,
			"weir_queue_watchdog_detected_total leaf2/Ethernet1/1/queue/3":      telemetry.Measured,
		}},
	} {
		t.Run(c.platform, func(t *testing.T) {
			address, _ := lab.Endpoint(c.device)
			bindings, err := telemetry.ReadBindings(templates.FS, c.platform)
			if err != nil {
				t.Fatal(err)
			}
			store := collect.New(collect.Options{})
			arrived := make(chan struct{}, 1)
			s := gnmi.Subscriber{Scale: scale, Bindings: bindings, Sink: notify{store, arrived},
				Device: telemetry.Device{Name: c.device, Ports: []telemetry.Port{{Name: c.port}}, Watched: []string{"3"}},
				Dial: func(context.Context) (gnmi.Conn, error) {
					return grpc.NewClient("passthrough:///"+address, grpc.WithPerRPCCredentials(login{}),
						grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: roots})))
				}}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- s.Run(ctx) }()
			left := missing(store, c.want)
			for len(left) > 0 && ctx.Err() == nil {
				select {
				case <-arrived:
				case <-ctx.Done():
				}
				left = missing(store, c.want)
			}
			if len(left) > 0 {
				t.Errorf("not as wanted: %v", left)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			for _, x := range store.Series(nil, telemetry.Unmatched) {
				if x.Last().Value > 0 {
					t.Errorf("%v updates that nobody reads", x.Last().Value)
				}
			}
		})
	}
}

// notify tells of each batch that it passes on.
type notify struct {
	telemetry.Sink
	arrived chan struct{}
}

func (n notify) Put(samples []telemetry.Sample) {
	n.Sink.Put(samples)
	select {
	case n.arrived <- struct{}{}:
	default:
	}
}

// missing are the wanted readings that are not there, or of another status.
func missing(store *collect.Store, want map[string]telemetry.Status) map[string]string {
	have := map[string]telemetry.Status{}
	for _, s := range store.Series(nil) {
		have[s.Metric.Name+" "+s.Addr.String()] = s.Status
	}
	left := map[string]string{}
	for name, status := range want {
		if got, ok := have[name]; !ok {
			left[name] = "nothing"
		} else if got != status {
			left[name] = got.String()
		}
	}
	return left
}
