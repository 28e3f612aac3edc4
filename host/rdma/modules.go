package rdma

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// aliases are names that modprobe takes for a module, and the name that the kernel lists it by: Linux,
// net/sunrpc/xprtrdma/module.c.
var aliases = map[string]string{"xprtrdma": "rpcrdma", "svcrdma": "rpcrdma"}

// Modules are the kernel modules that a host must have loaded, by the names that the kernel has for them, each once, however many
// names it is wanted by.
func Modules(h *fabric.Host) []string {
	var out []string
	for _, m := range h.Modules {
		if name := ModuleName(m.Name); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// ModuleName is the name that /proc/modules has: with underscores, and that of the module behind an alias.
func ModuleName(name string) string {
	name = strings.ReplaceAll(name, "-", "_")
	return cmp.Or(aliases[name], name)
}

// Unloaded are those of the host's modules that are not in /proc/modules.
func Unloaded(h *fabric.Host, procModules string) []string {
	loaded := map[string]bool{}
	for line := range strings.Lines(procModules) {
		name, _, _ := strings.Cut(line, " ")
		loaded[name] = true
	}
	return slices.DeleteFunc(Modules(h), func(name string) bool { return loaded[name] })
}

// Load is the message that loads a module. None unloads one: others use it by then (modprobe -r rdma_cm: in use by ib_iser), and
// loaded it does nothing by itself.
func Load(module string) plan.Message {
	return plan.Message{Op: plan.Run, Body: plan.Command("modprobe", module)}
}
