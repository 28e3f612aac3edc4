package gnmi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/protobuf/proto"

	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/collect"
)

// BenchmarkIngest measures, on one core, how many counters a second go from the bytes of a stream to exported series, beside a
// bare client that only decodes the same bytes: protobuf, and for a value that is JSON the JSON. Both run in one process, one
// after the other. Goal: at least half of the bare client.
func BenchmarkIngest(b *testing.B) {
	for _, stream := range []struct {
		name, platform, key string
		messages            [][]byte
	}{
		{"leaves", "eos", "openconfig", leafStream(b)},
		{"tables", "sonic", "COUNTERS_DB", tableStream(b)},
	} {
		var bare, weir float64
		b.Run(stream.name+"/bare", func(b *testing.B) {
			bare = ingest(b, stream.messages, func(r *gpb.SubscribeResponse) int { return decode(b, r) })
		})
		b.Run(stream.name+"/weir", func(b *testing.B) {
			d := decoders(b, stream.platform, telemetry.Device{Name: "leaf1"})[stream.key]
			store := collect.New(collect.Options{})
			weir = ingest(b, stream.messages, func(r *gpb.SubscribeResponse) int {
				samples, unmatched := d.Decode(r.GetUpdate(), time.Now())
				if unmatched > 0 || len(samples) == 0 {
					b.Fatalf("%d samples, %d unmatched", len(samples), unmatched)
				}
				store.Put(samples)
				return len(samples)
			})
			if bare > 0 {
				b.ReportMetric(weir/bare, "of-bare")
			}
		})
	}
}

// ingest takes messages until the benchmark has enough, and gives the counters a second.
func ingest(b *testing.B, messages [][]byte, handle func(*gpb.SubscribeResponse) int) float64 {
	b.ReportAllocs()
	counters := 0
	for i := 0; b.Loop(); i++ {
		var r gpb.SubscribeResponse
		if err := proto.Unmarshal(messages[i%len(messages)], &r); err != nil {
			b.Fatal(err)
		}
		counters += handle(&r)
	}
	rate := float64(counters) / b.Elapsed().Seconds()
	b.ReportMetric(rate, "counters/s")
	return rate
}

// decode is what a client must do at least: a JSON value has to be taken apart before a number can be had from it. It counts
// the same fields as weir reads.
func decode(b *testing.B, r *gpb.SubscribeResponse) int {
	n := 0
	for _, u := range r.GetUpdate().GetUpdate() {
		body := u.GetVal().GetJsonIetfVal()
		if body == nil {
			n++
			continue
		}
		var rows map[string]map[string]string
		if err := json.Unmarshal(body, &rows); err != nil {
			b.Fatal(err)
		}
		n += len(rows) * rowFields
	}
	return n
}

const (
	benchPorts = 64
	rowFields  = 26 // of a port's row that weir reads
	spare      = 70 // that it does not: a SONiC port has about a hundred counters
)

// leafStream is the PFC and queue counters of a switch, one notification for each port and priority, as EOS groups them.
func leafStream(b *testing.B) [][]byte {
	var out [][]byte
	for p := range benchPorts {
		for q := range 8 {
			n := &gpb.Notification{Timestamp: noon.UnixNano(), Prefix: &gpb.Path{Origin: "openconfig"}}
			base := fmt.Sprintf("/interfaces/interface[name=Ethernet%d/1]/ethernet/pfc/priorities/priority[index=%d]/state/", p+1, q)
			queue := fmt.Sprintf("/qos/interfaces/interface[interface-id=Ethernet%d/1]/output/queues/queue[name=%d]/state/", p+1, q)
			for i, leaf := range []string{base + "in-frames", base + "out-frames", base + "pfc-on-total-rx-time",
				queue + "transmit-pkts", queue + "transmit-octets", queue + "dropped-pkts", queue + "ecn-marked-pkts"} {
				path, err := parsePath(leaf)
				if err != nil {
					b.Fatal(err)
				}
				n.Update = append(n.Update, &gpb.Update{Path: path, Val: number(uint64(1e9 + i*q))})
			}
			out = append(out, message(b, n))
		}
	}
	return out
}

// tableStream is one sample of COUNTERS/Ethernet* of a switch.
func tableStream(b *testing.B) [][]byte {
	rows := make([]string, benchPorts)
	for p := range rows {
		var fields []string
		for i := range spare {
			fields = append(fields, fmt.Sprintf(`"SAI_PORT_STAT_SOMETHING_ELSE_%d_PKTS":"%d"`, i, i*7919))
		}
		fields = append(fields, fmt.Sprintf(`"SAI_PORT_STAT_IF_IN_OCTETS":"%d","SAI_PORT_STAT_IF_OUT_OCTETS":"%d"`, p*1e9, p*2e9))
		for q := range 8 {
			fields = append(fields, fmt.Sprintf(`"SAI_PORT_STAT_PFC_%d_RX_PKTS":"%d","SAI_PORT_STAT_PFC_%d_TX_PKTS":"%d","SAI_PORT_STAT_PFC_%d_RX_PAUSE_DURATION_US":"%d"`,
				q, p*1000, q, p*2000, q, p*1e6))
		}
		rows[p] = fmt.Sprintf(`"etp%d":{%s}`, p, strings.Join(fields, ","))
	}
	return [][]byte{message(b, update("", "COUNTERS/Ethernet*", object("{"+strings.Join(rows, ",")+"}")))}
}

func message(b *testing.B, n *gpb.Notification) []byte {
	body, err := proto.Marshal(&gpb.SubscribeResponse{Response: &gpb.SubscribeResponse_Update{Update: n}})
	if err != nil {
		b.Fatal(err)
	}
	return body
}
