package rdma

import (
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// WriteModules are the kernel modules that must be loaded.
func WriteModules(h *fabric.Host) plan.Document {
	var doc plan.Document
	for _, m := range h.Modules {
		doc = append(doc, module(h.Name, m.Name))
	}
	return doc
}

// module is the leaf of a loaded module. The kernel writes a dash in a module's name as an underscore.
func module(host, name string) plan.Leaf {
	name = strings.ReplaceAll(name, "-", "_")
	return plan.Leaf{Path: []string{"module", name}, Value: "loaded", Addr: addr.Device(host).Of(addr.Module, name)}
}

// ReadModules finds those of the host's modules that are loaded in /proc/modules.
func ReadModules(h *fabric.Host, procModules string) plan.Document {
	loaded := map[string]bool{}
	for line := range strings.Lines(procModules) {
		name, _, _ := strings.Cut(line, " ")
		loaded[name] = true
	}
	return slices.DeleteFunc(WriteModules(h), func(l plan.Leaf) bool { return !loaded[l.Path[1]] })
}

// ModuleMessages load what is missing. A module that goes again is unloaded after those that were loaded after it.
func ModuleMessages(deltas []plan.Delta) []plan.Message {
	var load, unload []plan.Message
	for _, d := range deltas {
		if d.Action == plan.Delete {
			unload = append(unload, plan.Message{Op: plan.Run, Body: "modprobe -r " + d.Leaf.Path[1]})
		} else {
			load = append(load, plan.Message{Op: plan.Run, Body: "modprobe " + d.Leaf.Path[1]})
		}
	}
	slices.Reverse(unload)
	return append(load, unload...)
}
