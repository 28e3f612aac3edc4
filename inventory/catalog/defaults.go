package catalog

import (
	"strings"

	"github.com/weirfabric/weir/intent/addr"
)

// Default is what holds on devices of a platform where their configuration says nothing. Only what a source shows stands here: of
// everything else the default is not known.
type Default struct {
	Platform string
	SKU      string    // of its hardware alone; empty: all of them
	Release  string    // that begins so; empty: all of them
	Of       addr.Addr // the settings, with neither device nor port: queue:weight is that of every queue
	Value    string    // as fabric.Setting spells it
	Source   string
}

var defaults = []Default{
	{
		Platform: "sonic", Of: addr.Addr{Kind: addr.MTU}, Value: "9100B",
		Source: "sonic-net/sonic-swss, cfgmgr/portmgr.h, DEFAULT_MTU_STR, which portmgr.cpp gives a port without mtu",
	},
	{
		Platform: "sonic", Of: addr.Addr{Kind: addr.PFC}, Value: "off",
		Source: "opencomputeproject/SAI, inc/saiport.h, SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL: 0, as for a row of PORT_QOS_MAP without pfc_enable (sonic-swss, qosorch.cpp)",
	},
	{
		Platform: "sonic", Of: addr.Addr{Kind: addr.FlowControl}, Value: "off",
		Source: "opencomputeproject/SAI, inc/saiport.h, SAI_PORT_ATTR_GLOBAL_FLOW_CONTROL_MODE: disable; nothing in sonic-swss sets it",
	},
	{
		Platform: "sonic", Of: addr.Addr{Kind: addr.Watchdog, Leaf: "poll"}, Value: "100ms",
		Source: "sonic-net/sonic-swss e6b0c5b5, orchagent: the poll of the watchdog without PFC_WD|GLOBAL",
	},
	{
		Platform: "eos", Of: addr.Addr{Kind: addr.PFC}, Value: "off",
		Source: "EOS manual, DCBX and flow control: PFC is off by default",
	},
}

// DefaultOf is what holds for a setting that a device says nothing of; nil where no source tells.
func DefaultOf(platform, sku, release string, of addr.Addr) *Default {
	of.Device, of.Port = "", ""
	for _, d := range defaults {
		if d.Platform == platform && (d.SKU == "" || d.SKU == sku) && (d.Release == "" || strings.HasPrefix(release, d.Release)) && d.Of.Contains(of) {
			return &d
		}
	}
	return nil
}

// Defaults are all that are known.
func Defaults() []Default { return defaults }
