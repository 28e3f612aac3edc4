package view

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
)

// mostRows is how many kinds of switches or ports a table shows, the worst of them; the JSON form has them all.
const mostRows = 40

// Congestion prints one table for each subject, with what its numbers mean.
func (v View) Congestion(f *fabric.Fabric, c fabric.Congestion) {
	v.Printf("%s: %s, %s, %s; heights from %s\n", f.Name, diag.Count(len(f.Switches), "switch"), diag.Count(len(f.Hosts), "host"), diag.Count(len(f.Links), "link"), c.Ranks.From)
	v.oversubscription(c)
	v.fanOuts(f, c.FanOuts)
	v.incasts(c.Incasts)
}

// subject prints a heading and what stands below it.
func (v View) subject(heading string, lines ...string) {
	v.Printf("\n%s\n", v.Bold(heading))
	for _, l := range lines {
		v.Printf("  %s\n", l)
	}
}

// table prints rows below a heading, columns aligned. Columns that are empty in all rows are left out.
func (v View) table(heading []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	var used []int
	for i := range heading {
		if slices.ContainsFunc(rows, func(r []string) bool { return r[i] != "" }) {
			used = append(used, i)
		}
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	for _, r := range append([][]string{heading}, rows[:min(len(rows), mostRows)]...) {
		var cells []string
		for _, i := range used {
			cells = append(cells, r[i])
		}
		fmt.Fprintf(w, "  %s\n", strings.Join(cells, "\t"))
	}
	_ = w.Flush()
	v.Printf("\n")
	for i, line := range strings.Split(strings.TrimRight(b.String(), "\n"), "\n") {
		if line = strings.TrimRight(line, " "); i == 0 {
			line = v.Dim(line)
		}
		v.Printf("%s\n", line)
	}
	if more := len(rows) - mostRows; more > 0 {
		v.Printf("  and %d more: --json has all\n", more)
	}
}

func (v View) oversubscription(c fabric.Congestion) {
	v.subject("Oversubscription: what may come from below, by what can go upwards",
		"At 2:1, when all that is below sends upwards at once, everybody gets half: PFC pauses senders, and the lack stays.",
		"ratio = bandwidth from below / bandwidth upwards; with a link down: from below / (upwards - the fastest link there).")
	alike := alikeLoads(c.Loads)
	kinds := map[int]int{} // of switches, by rank
	for _, k := range alike {
		kinds[k.load.Rank]++
	}
	var tiers [][]string
	for _, t := range c.Tiers {
		where := func(r float64, l fabric.Load) string {
			if kinds[t.Rank] == 1 {
				return ratio(r)
			}
			return ratio(r) + " at " + l.Switch.Name
		}
		name := fmt.Sprintf("%d %s", t.Rank, strings.Join(t.Roles, ", "))
		row := []string{name, fmt.Sprint(t.Switches), links(t.Down), links(t.Up), "", "", ""}
		switch {
		case t.Top:
			row[4] = "top"
		case t.Known == 0:
			row[4] = "not known"
		default:
			row[4] = ratio(t.Usual)
			row[5] = where(t.Worst.Ratio(), t.Worst)
			row[6] = where(t.OneDown.OneDown(), t.OneDown)
		}
		tiers = append(tiers, row)
	}
	v.table([]string{"TIER", "SWITCHES", "FROM BELOW", "UPWARDS", "USUAL RATIO", "WORST", "WORST WITH A LINK DOWN"}, tiers)
	v.switches(alike, len(tiers))
}

// alikeLoad is switches whose cables say the same, told in one row.
type alikeLoad struct {
	load  fabric.Load // of the first
	names []string
}

// alikeLoads puts switches together; those of one rank with the largest ratio come first.
func alikeLoads(loads []fabric.Load) []alikeLoad {
	index := map[fabric.Load]int{}
	var out []alikeLoad
	for _, l := range loads {
		key := l
		key.Switch = nil
		i, seen := index[key]
		if !seen {
			i = len(out)
			index[key] = i
			out = append(out, alikeLoad{load: l})
		}
		out[i].names = append(out[i].names, l.Switch.Name)
	}
	worst := func(l fabric.Load) float64 {
		if !l.Known() {
			return 0
		}
		return l.Ratio()
	}
	slices.SortStableFunc(out, func(a, b alikeLoad) int {
		return cmp.Or(cmp.Compare(a.load.Rank, b.load.Rank), cmp.Compare(worst(b.load), worst(a.load)))
	})
	return out
}

// switches tells them apart where a tier has several kinds, or where hosts have several switches.
func (v View) switches(kinds []alikeLoad, tiers int) {
	once := slices.ContainsFunc(kinds, func(k alikeLoad) bool { return k.load.Known() && k.load.Once != k.load.Down.Rate })
	if len(kinds) == tiers && !once {
		return
	}
	var rows [][]string
	for _, k := range kinds {
		l := k.load
		row := []string{diag.First(k.names, 3), links(l.Down), links(l.Up), links(l.Side), unknownRatio(l), "", ""}
		if l.Side.Links == 0 {
			row[3] = ""
		}
		if row[4] == "" {
			row[4], row[5] = ratio(l.Ratio()), ratio(l.OneDown())
			if once {
				row[6] = ratio(l.OnceRatio())
			}
		}
		rows = append(rows, row)
	}
	v.table([]string{"SWITCHES", "FROM BELOW", "UPWARDS", "SIDEWAYS", "RATIO", "WITH A LINK DOWN", "HOSTS ONCE"}, rows)
	if once {
		v.Printf("\n  Hosts once: a host that is joined to several switches sends no more in all than its links to one of them carry, spread over all\n" +
			"  its links. It counts as best * here / all: the bandwidth that it has to the best of its switches, to this one, and in all. That is\n" +
			"  right where its links stand in for each other; where every NIC is busy by itself, as with a NIC for each rail, the ratio holds.\n")
	}
}

// unknownRatio says why a switch has no ratio; empty where it has one.
func unknownRatio(l fabric.Load) string {
	switch {
	case l.Top:
		return "top"
	case l.Speedless > 0:
		return "not known: " + diag.Count(l.Speedless, "link") + " without a speed"
	case l.Down.Links == 0:
		return "not known: no link from below"
	}
	return ""
}

// links writes how many there are and what they carry.
func links(b fabric.Bundle) string {
	if b.Links == 0 {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", sum(b.Rate), diag.Count(b.Links, "link"))
}

// sum writes the bandwidth of many links: 800G, 307.2T.
func sum(r qos.Rate) string {
	if r < 10e12 {
		return r.String()
	}
	return strconv.FormatFloat(math.Round(float64(r)/1e11)/10, 'f', -1, 64) + "T"
}

func ratio(r float64) string {
	if math.IsInf(r, 1) {
		return "no link upwards"
	}
	return intent.Ratio(r).String()
}

func (v View) fanOuts(f *fabric.Fabric, fans []fabric.FanOut) {
	v.subject("ECMP: a hash picks the link of each flow, and knows nothing of load",
		"For as many flows as links, n: how likely it is that all have a link of their own, n!/n^n, and how many flows the fullest link",
		"carries on average. The few and large flows of RDMA feel it; more queue pairs for each transfer even it out.")
	var rows, next [][]string
	for _, o := range fans {
		row := []string{tierName(o.Rank, o.Role), fmt.Sprint(o.Switches), fmt.Sprint(o.Links), "nothing to choose", ""}
		if o.Links > 1 {
			row[3], row[4] = chance(o.NoCollision), fmt.Sprintf("%.1f flows", o.WorstLink)
		}
		rows = append(rows, row)
		for _, n := range o.Next {
			if o.Links > 1 && n.Links > 1 {
				next = append(next, []string{tierName(o.Rank, o.Role), tierName(n.Rank, n.Role), fmt.Sprint(o.Links), fmt.Sprint(n.Links),
					fmt.Sprintf("%d of %d", n.Used, n.Links), hashes(f, o.Role, n.Role)})
			}
		}
	}
	if len(rows) == 0 {
		v.Printf("  No switch has a link upwards.\n")
		return
	}
	v.table([]string{"FROM", "SWITCHES", "LINKS UPWARDS", "ALL APART", "FULLEST LINK"}, rows)
	if len(next) > 0 {
		v.Printf("\n  If two tiers hash alike (the same function, seed and fields), what the first sorts out the second cannot sort again: it uses\n" +
			"  n2 / gcd(n1, n2) of its links. Give every tier a seed of its own.\n")
		v.table([]string{"FROM", "TO", "n1", "n2", "USED IF ALIKE", "HASH"}, next)
	}
}

func tierName(rank int, role string) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", rank, role))
}

// chance writes a probability as people say it.
func chance(p float64) string {
	if p >= 0.01 {
		return fmt.Sprintf("%.2g %%", 100*p)
	}
	return fmt.Sprintf("1 in %.3g", 1/p)
}

// hashes says what the intent has about the hashes of two roles.
func hashes(f *fabric.Fabric, low, high string) string {
	alike, known := fabric.HashedAlike(f.HashOf(low), f.HashOf(high))
	switch {
	case alike:
		return "alike"
	case known:
		return "different"
	}
	return "not known: routing.hash does not say"
}

func (v View) incasts(all []fabric.Incast) {
	if len(all) == 0 {
		v.subject("Incast: how many senders may start at once towards a port before PFC fires", "No port has PFC on.")
		return
	}
	lines := []string{
		"Each sender has the speed C of the port and comes in by a port of its own. N may start at once while",
		"  (N-1)*C*RTT + N*Kmax + sum of (N/2^i - 1)*C*tau while N/2^i > 1  <  N*alpha*Bs / (1 + N*alpha)",
		"Left: how deep the queue gets before marks (all above Kmax, ecn.max) slow the senders, whose rates a CNP halves every tau.",
		"Right: how deep it is when PFC fires, with Bs for the shared buffer. The left is weir's own sum: a packet simulation came within 8 %",
		"of it from 8 senders on, and lower for fewer.",
	}
	if slices.ContainsFunc(all, func(i fabric.Incast) bool { return i.Static > 0 }) {
		lines = append(lines, "With a static threshold T in place of alpha, the right is N*T, and at most Bs.")
	}
	if slices.ContainsFunc(all, func(i fabric.Incast) bool { return !i.CNP.Said && i.Max > 0 }) {
		lines = append(lines, "tau is the 50us of the DCQCN paper where roce.cnpInterval is not written.")
	}
	v.subject("Incast: how many senders may start at once towards a port before PFC fires", lines...)
	several := slices.ContainsFunc(all, func(i fabric.Incast) bool { return i.SKU != all[0].SKU })
	var rows [][]string
	for first := 0; first < len(all); {
		last := first + 1
		for last < len(all) && all[last].SameKind(all[first].PortClass) && all[last].Why == all[first].Why {
			last++
		}
		row := incastRow(all[first:last])
		if several {
			row[2] = all[first].SKU
		}
		rows = append(rows, row)
		first = last
	}
	v.table([]string{"CLASS", "PORTS", "SKU", "HOW MANY", "C", "Kmax", "ALPHA", "Bs", "RTT", "TAU", "WANTED", "SENDERS"}, rows)
}

// incastRow is about port classes that differ in the shared buffer alone, the least first.
func incastRow(same []fabric.Incast) []string {
	least, most, ports := same[0], same[len(same)-1], 0
	for _, i := range same {
		ports += len(i.Ports)
	}
	far := "without a cable"
	switch {
	case least.Far != "":
		far = "to " + least.Far
	case least.Host:
		far = "to hosts"
	case least.Ports[0].Port.Peer != nil:
		far = "to switches"
	}
	row := []string{
		least.Class, strings.TrimSpace(least.Role + " " + far), "", fmt.Sprint(ports), least.Speed.String(), least.Max.Rounded(), least.Alpha.String(),
		span(least.Shared.Rounded(), most.Shared.Rounded()), qos.RoundedTime(least.RTT), qos.RoundedTime(least.CNPInterval), "",
		span(senders(least), senders(most)),
	}
	if least.Static > 0 {
		row[6] = "T = " + least.Static.Rounded()
	}
	if least.Max == 0 {
		row[5], row[8], row[9] = "-", "-", "-"
	}
	if least.Shared == 0 {
		row[7] = "-"
	}
	if least.Wanted > 0 {
		row[10] = fmt.Sprint(least.Wanted)
	}
	return row
}

func senders(i fabric.Incast) string {
	switch {
	case i.Senders == 0:
		return "not known: " + i.Why
	case i.Why != "":
		return fmt.Sprintf("%d: %s", i.Senders, i.Why)
	case i.Senders >= lossless.MostSenders:
		return fmt.Sprintf("%d or more", i.Senders)
	}
	return fmt.Sprint(i.Senders)
}

// span writes two ends, and one where they are the same.
func span(from, to string) string {
	if from == to {
		return from
	}
	return from + " to " + to
}
