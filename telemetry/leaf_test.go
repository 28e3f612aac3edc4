package telemetry

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/templates/pack"
)

func TestValuesAsDevicesWriteThem(t *testing.T) {
	for name, c := range map[string]struct {
		field  pack.Field
		as     Status // that the field says
		text   string
		value  float64
		status Status
		ok     bool
	}{
		"a number":                         {text: "42", value: 42, ok: true},
		"with commas":                      {text: " 1,234,567 ", value: 1234567, ok: true}, // show pfc counters
		"not counted":                      {text: "N/A", status: Unsupported, ok: true},
		"a dash":                           {text: "-"},
		"nothing":                          {text: ""},
		"a word that is none":              {text: "disabled"},
		"microseconds":                     {field: pack.Field{Scale: 1e-6}, text: "2500000", value: 2.5, ok: true},
		"a word":                           {field: pack.Field{Values: map[string]float64{"stormed": 1}}, text: "stormed", value: 1, ok: true},
		"a word that has no value":         {field: pack.Field{Values: map[string]float64{"stormed": 1}}, text: "7"},
		"the second part of a cell":        {field: pack.Field{Part: 2}, text: "5/3", value: 3, ok: true},
		"the third of a cell of two":       {field: pack.Field{Part: 3}, text: "5/3"},
		"what the device itself estimates": {as: Estimated, text: "5", value: 5, status: Estimated, ok: true},
	} {
		l := &Leaf{Field: c.field, Status: c.as}
		value, status, ok := l.Read(c.text)
		if value != c.value || status != c.status || ok != c.ok {
			t.Errorf("%s: got %v %v %v, want %v %v %v", name, value, status, ok, c.value, c.status, c.ok)
		}
	}
}

func TestNamesOfRows(t *testing.T) {
	type result struct {
		port, number string
		ok           bool
	}
	for _, c := range []struct {
		form, name string
		want       result
	}{
		{"{port}", "Ethernet0", result{"Ethernet0", "", true}},
		{"{port}:{queue}", "Ethernet68/1:3", result{"Ethernet68/1", "3", true}},
		{"{port}:{queue}", "Ethernet68/1:12", result{}},
		{"{port}:{queue}", "Ethernet68/1:3:periodic", result{}},
		{"{port}:{queue}:periodic", "Ethernet68/1:3:periodic", result{"Ethernet68/1", "3", true}},
		{"{port}:{queue}:periodic", "Ethernet68/1:3", result{}},
		{"{port}:{queue}", ":3", result{}},
	} {
		var got result
		got.port, got.number, got.ok = NewRows(c.form).Match(c.name)
		if !got.ok {
			got = result{}
		}
		if got != c.want {
			t.Errorf("%s of %s: got %v, want %v", c.form, c.name, got, c.want)
		}
	}
}

func TestTheNumberThatANameEndsIn(t *testing.T) {
	for name, want := range map[string]string{"3": "3", "UC3": "3", "Ethernet1-3": "3", "Ethernet13": "", "rdma": "", "": ""} {
		got, ok := Trailing(name)
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestTwoLeavesOfOneReadingAreNotMissedWhenOneCame(t *testing.T) {
	leaves := Leaves(map[string]pack.Field{
		"SAI_{priority}": {Metric: PFCSeconds.Name}, "EST_{priority}": {Metric: PFCSeconds.Name, Status: "estimated"}})
	if got := len(leaves); got != 16 {
		t.Fatalf("got %d leaves, want 16", got)
	}
	e := NewExpected(Device{Name: "leaf1", Ports: []Port{{Name: "e1"}, {Name: "e2"}}, Watched: []string{"3"}})
	for _, l := range leaves {
		e.Add(l, time.Second, "")
	}
	e.Saw(leaves["EST_3"], "e1")
	e.Saw(leaves["SAI_4"], "e2")
	var got []string
	for _, s := range e.Missing(time.Time{}, nil, true, nil) {
		got = append(got, s.Addr.String()+" "+s.Status.String())
	}
	if diff := cmp.Diff(got, []string{"leaf1/e2/pfc/3 unsupported"}); diff != "" {
		t.Errorf("(-got +want)\n%s", diff)
	}
}
