package oc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/ygot/ygot"
)

func path(t *testing.T, text string) *gpb.Path {
	t.Helper()
	p, err := ygot.StringToStructuredPath(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheModelsHaveTheirLeavesAndNoOthers(t *testing.T) {
	for text, want := range map[string]bool{
		"/interfaces/interface[name=*]/state/counters/in-octets":                                      true,
		"/interfaces/interface[name=*]/state/oper-status":                                             true,
		"/interfaces/interface[name=*]/ethernet/state/counters/in-mac-pause-frames":                   true,
		"/qos/interfaces/interface[interface-id=*]/output/queues/queue[name=*]/state/ecn-marked-pkts": true,
		"/interfaces/interface[name=*]/state/counters":                                                false,
		"/interfaces/interface[name=*]/state/counters/in-octet":                                       false,
		// OpenConfig has no model of PFC.
		"/interfaces/interface[name=*]/ethernet/pfc/priorities/priority[index=*]/state/in-frames": false,
	} {
		if got := HasLeaf(path(t, text)); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

func TestAContainerIsTakenApart(t *testing.T) {
	for name, c := range map[string]struct {
		path, body string
		want       map[string]string
		err        string
	}{
		"a list entry": {
			path: "/interfaces/interface[name=Ethernet1]",
			body: `{"openconfig-interfaces:name":"Ethernet1","openconfig-interfaces:state":{"oper-status":"UP","counters":{"in-octets":"7"}},"vendor:x":{}}`,
			want: map[string]string{"/interfaces/interface[name=Ethernet1]/state/counters/in-octets": "7", "/interfaces/interface[name=Ethernet1]/state/oper-status": "UP"},
		},
		"a container inside state": {
			path: "/interfaces/interface[name=Ethernet1]/state/counters", body: `{"in-octets":"7","out-octets":"8"}`,
			want: map[string]string{"/interfaces/interface[name=Ethernet1]/state/counters/in-octets": "7", "/interfaces/interface[name=Ethernet1]/state/counters/out-octets": "8"},
		},
		"a container outside every list": {
			path: "/interfaces", body: `{"interface":[{"name":"Ethernet1","state":{"counters":{"in-octets":"7"}}}]}`,
			want: map[string]string{"/interfaces/interface[name=Ethernet1]/state/counters/in-octets": "7"},
		},
		"no JSON": {path: "/interfaces", body: `{`, err: "take /interfaces apart: "},
		"a 64-bit number, which RFC 7951 writes as a string": {path: "/interfaces/interface[name=Ethernet1]/state/counters", body: `{"in-octets":7}`,
			err: "take /interfaces/interface[name=Ethernet1]/state/counters apart: "},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{}
			updates, err := Leaves(path(t, c.path), []byte(c.body))
			for _, u := range updates {
				p, err := ygot.PathToString(u.GetPath())
				if err != nil {
					t.Fatal(err)
				}
				switch v := u.GetVal().GetValue().(type) {
				case *gpb.TypedValue_UintVal:
					got[p] = string(rune('0' + v.UintVal))
				case *gpb.TypedValue_StringVal:
					got[p] = v.StringVal
				}
			}
			delete(got, "/interfaces/interface[name=Ethernet1]/name")
			delete(got, "/interfaces/interface[name=Ethernet1]/state/name")
			if c.want == nil {
				c.want = map[string]string{}
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("(-got +want)\n%s", diff)
			}
			if (err != nil) != (c.err != "") || err != nil && !strings.HasPrefix(err.Error(), c.err) {
				t.Errorf("got error %v, want one that begins %q", err, c.err)
			}
		})
	}
}
