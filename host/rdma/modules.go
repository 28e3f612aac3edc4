package rdma

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// aliases are names that modprobe takes for a module, and the name that the kernel lists it by: Linux,
// net/sunrpc/xprtrdma/module.c.
var aliases = map[string]string{"xprtrdma": "rpcrdma", "svcrdma": "rpcrdma"}

// WriteModules are the kernel modules that must be loaded, each once, however many names it is wanted by.
func WriteModules(h *fabric.Host) plan.Document {
	var doc plan.Document
	for _, m := range h.Modules {
		leaf := module(h.Name, m.Name)
		if !slices.ContainsFunc(doc, func(l plan.Leaf) bool { return plan.Compare(l, leaf) == 0 }) {
			doc = append(doc, leaf)
		}
	}
	return doc
}

// ModuleName is the name that /proc/modules has: with underscores, and that of the module behind an alias.
func ModuleName(name string) string {
	name = strings.ReplaceAll(name, "-", "_")
	return cmp.Or(aliases[name], name)
}

// module is the leaf of a loaded module.
func module(host, name string) plan.Leaf {
	name = ModuleName(name)
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
			unload = append(unload, plan.Message{Op: plan.Run, Body: plan.Command("modprobe -r", d.Leaf.Path[1])})
		} else {
			load = append(load, plan.Message{Op: plan.Run, Body: plan.Command("modprobe", d.Leaf.Path[1])})
		}
	}
	slices.Reverse(unload)
	return append(load, unload...)
}
