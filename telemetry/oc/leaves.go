package oc

import (
	"fmt"
	"strings"
	"sync"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/goyang/pkg/yang"
	"github.com/openconfig/ygot/ygot"
	"github.com/openconfig/ygot/ytypes"
)

// schemaTree is the schema of each struct, by its name. It is unzipped when it is first needed: that takes about 25 ms, which
// most commands can do without.
var schemaTree = sync.OnceValue(func() map[string]*yang.Entry {
	tree, err := UnzipSchema()
	if err != nil {
		panic("the schema in this binary is damaged: " + err.Error())
	}
	return tree
})

// HasLeaf says whether the models have a leaf at the path. Keys are not looked at.
func HasLeaf(path *gpb.Path) bool {
	entry := schemaTree()["Device"]
	for _, e := range path.GetElem() {
		if entry = entry.Dir[e.GetName()]; entry == nil {
			return false
		}
	}
	return entry.IsLeaf() || entry.IsLeafList()
}

// Leaves takes a value that holds a whole container (RFC 7951 JSON) apart into the leaves of its state. What the models do not
// have, as the augments of a vendor, is passed over.
func Leaves(path *gpb.Path, body []byte) ([]*gpb.Update, error) {
	// Structs leave out the containers that only wrap, as state: what is beneath them is read from the list entry above.
	elems := path.GetElem()
	for last := len(elems) - 1; last >= 0 && len(elems[last].GetKey()) == 0; last-- {
		body = fmt.Appendf(nil, "{%q:%s}", elems[last].GetName(), body)
		elems = elems[:last]
	}
	device := &Device{}
	err := ytypes.SetNode(schemaTree()["Device"], device, &gpb.Path{Elem: elems},
		&gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: body}},
		&ytypes.InitMissingElements{}, &ytypes.IgnoreExtraFields{})
	if err != nil {
		return nil, fmt.Errorf("take %s apart: %w", text(path), err)
	}
	notifications, err := ygot.TogNMINotifications(device, 0, ygot.GNMINotificationsConfig{UsePathElem: true})
	if err != nil {
		return nil, fmt.Errorf("take %s apart: %w", text(path), err)
	}
	var out []*gpb.Update
	for _, n := range notifications {
		out = append(out, n.GetUpdate()...)
	}
	return out, nil
}

// text spells a path for a message.
func text(path *gpb.Path) string {
	s, err := ygot.PathToString(path)
	if err != nil {
		var names []string
		for _, e := range path.GetElem() {
			names = append(names, e.GetName())
		}
		return strings.Join(names, "/")
	}
	return s
}
