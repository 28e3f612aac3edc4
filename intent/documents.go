package intent

import (
	"reflect"
	"sync"

	"github.com/weirfabric/weir/intent/source"
)

// grammar is the kinds of document in fabric.yaml and in intent/. It is worked out once: it depends on nothing but the types.
var grammar = sync.OnceValue(func() *source.Grammar {
	g := source.NewGrammar(
		source.Kind{Name: "Fabric", Doc: "What must hold in the whole fabric: classes, PFC, buffers, routing, and how changes are made.", Type: reflect.TypeFor[Fabric]()},
		source.Kind{Name: "Override", Doc: "Settings nearer than the fabric's, for the devices and ports that it selects. The nearest wins.", Type: reflect.TypeFor[Override]()},
		source.Kind{Name: "Hosts", Doc: "What must hold on the hosts that it selects: RoCE, kernel modules, memory limits.", Type: reflect.TypeFor[HostProfile]()},
	)
	g.Elsewhere = map[string]string{"Switches": "into a file in inventory/", "Links": "into a file in inventory/", "Catalog": "into a file in inventory/", "Subnets": "into a file in inventory/"}
	return g
})

// Schema is the JSON Schema (draft 2020-12) of fabric.yaml and of the files in intent/.
func Schema() []byte { return grammar().Schema("weir: intent") }
