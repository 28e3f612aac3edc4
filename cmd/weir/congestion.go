package main

import (
	"math"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/intent/fabric"
)

// The JSON form of congestion. Rates are in bits per second. A ratio is absent where there is none: at the top of the fabric,
// where nothing comes from below, where a speed is not known, and where no link upwards is left.
type (
	congestionAnswer struct {
		Format   int                `json:"format"`
		Ranks    string             `json:"ranks"` // where the heights of the switches come from
		Tiers    []congestionTier   `json:"tiers"`
		Switches []congestionSwitch `json:"switches"`
		ECMP     []congestionFanOut `json:"ecmp"`
		Incast   []congestionIncast `json:"incast"`
	}
	congestionLinks struct {
		Links int   `json:"links"`
		Rate  int64 `json:"bits_per_second"`
	}
	congestionTier struct {
		Rank     int              `json:"rank"`
		Roles    []string         `json:"roles"`
		Switches int              `json:"switches"`
		Top      bool             `json:"top"`
		Down     congestionLinks  `json:"down"`
		Up       congestionLinks  `json:"up"`
		Ratio    *float64         `json:"ratio,omitempty"`       // of the sums
		Usual    *float64         `json:"usual_ratio,omitempty"` // of most of its switches
		Worst    *congestionWorst `json:"worst,omitempty"`
		OneDown  *congestionWorst `json:"one_uplink_down,omitempty"`
	}
	congestionWorst struct {
		Switch string   `json:"switch"`
		Ratio  *float64 `json:"ratio,omitempty"` // absent: nothing leads upwards
	}
	congestionSwitch struct {
		Switch    string          `json:"switch"`
		Role      string          `json:"role"`
		Rank      int             `json:"rank"`
		Top       bool            `json:"top"`
		Down      congestionLinks `json:"down"`
		Up        congestionLinks `json:"up"`
		Sideways  congestionLinks `json:"sideways"`
		Speedless int             `json:"links_without_speed"`
		Ratio     *float64        `json:"ratio,omitempty"`
		OneDown   *float64        `json:"one_uplink_down_ratio,omitempty"`
		Once      *float64        `json:"hosts_once_ratio,omitempty"` // hosts with several switches counted once
	}
	congestionFanOut struct {
		Role        string           `json:"role"`
		Rank        int              `json:"rank"`
		Links       int              `json:"links"`
		Switches    int              `json:"switches"`
		First       string           `json:"first_switch"`
		NoCollision float64          `json:"no_collision_probability"`
		WorstLink   float64          `json:"worst_link_flows"`
		Next        []congestionNext `json:"next"`
	}
	congestionNext struct {
		Role  string `json:"role"`
		Rank  int    `json:"rank"`
		Links int    `json:"links"`
		Used  int    `json:"links_used_if_alike"`
		Hash  string `json:"hash"` // alike, different or unknown
	}
	congestionIncast struct {
		Class    string  `json:"class"`
		Role     string  `json:"role"`
		SKU      string  `json:"sku"`
		Far      string  `json:"far_role"`
		FarHost  bool    `json:"far_is_host"`
		Ports    int     `json:"ports"`
		First    string  `json:"first_port"`
		Speed    int64   `json:"bits_per_second"`
		Max      int64   `json:"ecn_max_bytes"` // 0: nothing is marked, or nobody listens
		Alpha    string  `json:"alpha"`
		Static   int64   `json:"static_threshold_bytes"` // 0: alpha holds
		Shared   int64   `json:"shared_buffer_bytes"`    // 0: not known, or nothing is left
		RTT      float64 `json:"rtt_seconds"`
		Interval float64 `json:"cnp_interval_seconds"`
		Said     bool    `json:"cnp_interval_said"`
		Senders  int     `json:"senders"` // 0: not known
		Wanted   int     `json:"wanted"`  // 0: the intent wants no number
		Why      string  `json:"why,omitempty"`
	}
)

func congestionCommand(c *console) *cobra.Command {
	var f liveFlags
	cmd := &cobra.Command{
		Use:   "congestion [DIR]",
		Short: "Tell where load piles up by design: oversubscription, ECMP, incast",
		Long: `congestion tells what cables, hashes and buffers make of load, before any packet is sent: the oversubscription of every switch
and tier, also with a link down; how evenly ECMP can spread flows, and what is left of it when two tiers hash alike; and how
many senders may start at once towards a port before PFC fires. What is not known is named.`,
		Args: folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.open(dirArg(args), "")
			if err != nil {
				return err
			}
			if r.Fabric == nil {
				return c.refused(r.Findings)
			}
			about := r.Fabric
			if f.asked() {
				live, err := c.running(cmd.Context(), r, f)
				if err != nil {
					return err
				}
				about = live.Provable()
			}
			found := about.Congestion()
			if found.Ranks.Findings.HasErrors() {
				return c.refused(found.Ranks.Findings)
			}
			c.alsoWrong(r)
			if c.json {
				return c.printJSON(congestionForm(about, found))
			}
			c.stdout().Congestion(about, found)
			return nil
		},
	}
	f.register(cmd)
	return cmd
}

func congestionForm(f *fabric.Fabric, found fabric.Congestion) congestionAnswer {
	out := congestionAnswer{
		Format: 1, Ranks: found.Ranks.From,
		Tiers: []congestionTier{}, Switches: []congestionSwitch{}, ECMP: []congestionFanOut{}, Incast: []congestionIncast{},
	}
	for _, t := range found.Tiers {
		out.Tiers = append(out.Tiers, tierForm(t))
	}
	for _, l := range found.Loads {
		s := congestionSwitch{
			Switch: l.Switch.Name, Role: l.Switch.Role, Rank: l.Rank, Top: l.Top, Speedless: l.Speedless,
			Down: linksForm(l.Down), Up: linksForm(l.Up), Sideways: linksForm(l.Side),
		}
		if l.Known() {
			s.Ratio, s.OneDown, s.Once = finite(l.Ratio()), finite(l.OneDown()), finite(l.OnceRatio())
		}
		out.Switches = append(out.Switches, s)
	}
	for _, o := range found.FanOuts {
		out.ECMP = append(out.ECMP, fanOutForm(f, o))
	}
	for _, i := range found.Incasts {
		out.Incast = append(out.Incast, congestionIncast{
			Class: i.Class, Role: i.Role, SKU: i.SKU, Far: i.Far, FarHost: i.Host, Ports: len(i.Ports), First: i.At().String(), Speed: int64(i.Speed),
			Max: int64(i.Max), Alpha: i.Alpha.String(), Static: int64(i.Static), Shared: int64(i.Shared), RTT: i.RTT.Seconds(),
			Interval: i.CNPInterval.Seconds(), Said: i.CNP.Said, Senders: i.Senders, Wanted: i.Wanted, Why: i.Why,
		})
	}
	return out
}

func tierForm(t fabric.Tier) congestionTier {
	out := congestionTier{
		Rank: t.Rank, Roles: append([]string{}, t.Roles...), Switches: t.Switches, Top: t.Top, Down: linksForm(t.Down), Up: linksForm(t.Up),
	}
	if t.Known > 0 {
		out.Ratio, out.Usual = finite(t.Ratio()), finite(t.Usual)
		out.Worst = &congestionWorst{t.Worst.Switch.Name, finite(t.Worst.Ratio())}
		out.OneDown = &congestionWorst{t.OneDown.Switch.Name, finite(t.OneDown.OneDown())}
	}
	return out
}

func fanOutForm(f *fabric.Fabric, o fabric.FanOut) congestionFanOut {
	out := congestionFanOut{
		Role: o.Role, Rank: o.Rank, Links: o.Links, Switches: o.Switches, First: o.First.Name, NoCollision: o.NoCollision,
		WorstLink: o.WorstLink, Next: []congestionNext{},
	}
	for _, n := range o.Next {
		hash := "unknown"
		if alike, known := fabric.HashedAlike(f.HashOf(o.Role), f.HashOf(n.Role)); alike {
			hash = "alike"
		} else if known {
			hash = "different"
		}
		out.Next = append(out.Next, congestionNext{n.Role, n.Rank, n.Links, n.Used, hash})
	}
	return out
}

func linksForm(b fabric.Bundle) congestionLinks { return congestionLinks{b.Links, int64(b.Rate)} }

// finite is a ratio that JSON can say; nil for an infinite one.
func finite(ratio float64) *float64 {
	if math.IsInf(ratio, 0) {
		return nil
	}
	return &ratio
}
