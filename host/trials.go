package host

import (
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
)

var _ render.Tried[*fabric.Host] = Language{}

// scrap is a file that is written and removed to see whether that can be done. Nothing reads it, and it is in memory.
const scrap = "/run/weir-doctor"

// Trials are what weir needs of a host beside its answers: root, tools and a file that can be written.
func (Language) Trials(h *fabric.Host) []plan.Trial {
	if len(h.At) == 0 {
		return nil
	}
	run := func(command string) []plan.Message { return []plan.Message{{Op: plan.Run, Body: command}} }
	out := []plan.Trial{{
		What: "root", Send: run("true"),
		Advice: "log in as root, or allow the user every command in sudoers, without a password or with the one that weir knows",
	}}
	for _, t := range []struct{ tool, of string }{
		{"dcb", "iproute2"}, {"ip", "iproute2"}, {"rdma", "iproute2"}, {"ethtool", "ethtool"}, {"modprobe", "kmod"}, {"systemctl", "systemd"},
	} {
		out = append(out, plan.Trial{What: "tool " + t.tool, Send: run("command -v " + t.tool), Advice: "install " + t.of})
	}
	return append(out, plan.Trial{
		What:   "a file is written and removed",
		Send:   []plan.Message{{Op: plan.Write, Path: scrap, Body: "weir tries whether it can write\n"}, {Op: plan.Remove, Path: scrap}},
		Advice: "see what keeps root from writing: a full or read-only disk, or a policy",
	})
}
