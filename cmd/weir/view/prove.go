package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/proof/path"
)

// width is how many characters a line of a proof has.
const width = 120

// Paths prints proofs: paths there and back in turn. The first pair, or the first that is not lossless, is printed as a table.
func (v View) Paths(paths []path.Path, unjoined int) {
	shown := max(0, slices.IndexFunc(paths, func(p path.Path) bool { return !p.Lossless })) &^ 1
	for i := 0; i < len(paths); i += 2 {
		if i != shown {
			v.verdict(paths[i])
			v.verdict(paths[i+1])
		}
	}
	there, back := paths[shown], paths[shown+1]
	v.path(there)
	v.printBack(there, back)
	v.assumes(path.Granted(there, back))
	v.row("not seen", path.NotSeen...)
	if unjoined > 0 {
		v.row("left out", fmt.Sprintf("%s of these NICs that no cables of the inventory join: other planes or rails", diag.Count(unjoined, "pair")))
	}
}

// verdict prints one line about a path.
func (v View) verdict(p path.Path) {
	kinds := path.Join(p.Breaks)
	head := fmt.Sprintf("%s > %s, class %s: ", p.From, p.To, cmp.Or(p.Class, "none"))
	if len(kinds) == 0 {
		v.Printf("%s%s\n", head, v.state(kinds))
		return
	}
	first := kinds[max(0, slices.IndexFunc(kinds, func(j path.Joined) bool { return !j.Break.Unknown }))].Break.What
	between := " "
	if utf8.RuneCountInString(head+"not lossless: "+first) > width {
		between = "\n  "
	}
	v.Printf("%s%s:%s%s\n", head, v.state(kinds), between, first)
}

// state is the verdict in a word. Where nothing is wrong for sure, the class is not proven.
func (v View) state(kinds []path.Joined) string {
	switch {
	case len(kinds) == 0:
		return v.Good("lossless")
	case slices.ContainsFunc(kinds, func(j path.Joined) bool { return !j.Break.Unknown }):
		return v.Bad("not lossless")
	}
	return v.Bad("not proven")
}

// path prints a proof with its table.
func (v View) path(p path.Path) {
	v.verdict(p)
	if len(p.Hops) > 0 {
		v.Printf("  %s. Checked on all routes: %s, %s. One route:\n\n", carries(p.Packet), diag.Count(p.Switches, "switch"), diag.Count(p.Links, "cable"))
	}
	kinds := path.Join(p.Breaks)
	v.hops(p.Hops, p.Breaks, kinds)
	for _, r := range p.Others {
		what := "Another route:"
		if r.Answers {
			what = "A route of the CNPs:"
		}
		v.Printf("\n  %s\n\n", what)
		v.hops(r.Hops, p.Breaks, kinds)
	}
	if a := p.Answers; a != nil && slices.ContainsFunc(a.Hops, broken) {
		v.Printf("\n  The way back of the CNPs (class %s, DSCP %d):\n\n", a.Class, a.DSCP)
		v.hops(a.Hops, p.Breaks, kinds)
	}
	if len(p.Hops) > 0 {
		v.Printf("\n%s\n", v.Dim(legend))
	}
	v.breaks(kinds)
	if len(kinds) == 0 {
		v.Printf("\n")
	}
	if a := p.Answers; a != nil && !slices.ContainsFunc(a.Hops, broken) {
		v.row("answers", fmt.Sprintf("CNPs come back in class %s, DSCP %d: every port on the way takes them for it, sends them first and never pauses them", a.Class, a.DSCP))
	} else if a == nil && !p.Packet.ECT && len(p.Hops) > 0 {
		v.row("answers", "none: packets go without ECT, so nothing is marked and no CNP comes back; PFC alone holds the senders")
	}
}

func broken(h path.Hop) bool { return h.Broken }

// legend explains the table to those who know Ethernet.
const legend = `  PFC: the priority that the port pauses (in) or stops for (out), the same on both ends of a cable. group: the buffer in
  which packets come in; room: what it keeps for those that still arrive after PAUSE (headroom). ECN: the depth from
  which the queue marks packets, so that senders slow down before PFC has to act.`

// carries writes what the sender puts on the wire.
func carries(k path.Packet) string {
	s := fmt.Sprintf("RoCE v%d", k.RoCE)
	if k.RoCE == 2 {
		ect := "no ECT"
		if k.ECT {
			ect = "ECT"
		}
		s += fmt.Sprintf(", DSCP %d, %s (traffic class %d)", k.DSCP, ect, k.TrafficClass)
	}
	if k.MTU > 0 {
		s += ", up to " + k.MTU.String()
	}
	return s
}

// printBack says whether the other direction holds too, and prints its table where it breaks in another way.
func (v View) printBack(there, back path.Path) {
	known := path.Join(there.Breaks)
	fresh := slices.ContainsFunc(back.Breaks, func(b path.Break) bool {
		return !slices.ContainsFunc(known, func(j path.Joined) bool { return j.Is(&b) })
	})
	switch {
	case back.Lossless:
		v.row("back", fmt.Sprintf("%s > %s, class %s: %s as well", back.From, back.To, back.Class, v.Good("lossless")))
	case fresh:
		v.Printf("\n")
		v.path(back)
	default:
		v.row("back", fmt.Sprintf("%s > %s, class %s: %s, for the same reasons", back.From, back.To, back.Class, v.state(path.Join(back.Breaks))))
	}
}

// row prints paragraphs with one heading.
func (v View) row(what string, paragraphs ...string) {
	for _, text := range paragraphs {
		for _, line := range fold(text, width-12) {
			v.Printf("  %-9s %s\n", what, line)
			what = ""
		}
	}
}

// fold breaks a text into lines between its words.
func fold(text string, most int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) > most:
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return lines
}

// assumes prints what is taken for granted.
func (v View) assumes(list []path.Assumption) {
	var out []string
	for _, a := range list {
		var names []string
		for _, at := range a.At[:min(len(a.At), 3)] {
			names = append(names, at.String())
		}
		if more := a.Count - len(names); more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		out = append(out, fmt.Sprintf("%s (%s)", a.What, strings.Join(names, ", ")))
	}
	v.row("assumes", out...)
}

// breaks prints each kind of break once, with all its addresses, places and what to do.
func (v View) breaks(kinds []path.Joined) {
	for i, j := range kinds {
		word := "break"
		if j.Break.Unknown {
			word = "unknown"
		}
		for n, line := range fold(brokenAt(j), width-16) {
			switch {
			case n > 0:
				v.Printf("     %s\n", line)
			case j.Break.Unknown:
				v.Printf("\n  %d. %s: %s\n", i+1, v.paint(yellow, word), line)
			default:
				v.Printf("\n  %d. %s: %s\n", i+1, v.Bad(word), line)
			}
		}
		for _, line := range fold(j.Break.Why+" "+j.Break.Change, width-6) {
			v.Printf("     %s\n", line)
		}
		for _, p := range j.Break.Places {
			v.Printf("     at %s\n", p)
		}
	}
	if len(kinds) > 0 {
		v.Printf("\n")
	}
}

// brokenAt says where a kind of break is, what it is, and how much passes it.
func brokenAt(j path.Joined) string {
	var names []string
	for _, a := range j.Addresses[:min(len(j.Addresses), 4)] {
		if s := a.String(); s != "" {
			names = append(names, s)
		}
	}
	if more := j.Count - len(names); more > 0 && len(names) > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	s := j.Break.What
	if len(names) > 0 {
		s = strings.Join(names, ", ") + ": " + s
	}
	if j.Pairs > 0 {
		s += " (" + diag.Count(j.Pairs, "pair") + ")"
	}
	return s
}

// AllPaths prints the proofs of every pair, by class.
func (v View) AllPaths(name string, all []path.All) {
	for i, a := range all {
		if i > 0 {
			v.Printf("\n")
		}
		v.allPaths(name, a)
	}
	if len(all) > 1 {
		v.row("left out", "pairs of which one NIC sends in another class than the other")
	}
	if len(all) > 0 {
		v.row("not seen", path.NotSeen...)
	}
}

func (v View) allPaths(name string, a path.All) {
	ends := diag.Count(a.Ends, "NIC")
	if !a.Hosts {
		ends = diag.Count(a.Ends, "port") + " of switches"
	}
	switch {
	case a.Proven():
		v.Printf("%s, class %s: %s between all %s (%s, each direction by itself).\n", name, a.Class, v.Good("lossless"), ends, diag.Count(a.Pairs, "pair"))
	case len(a.Breaks) == 0:
		v.Printf("%s, class %s: %s: no pair to prove among %s.\n", name, a.Class, v.Bad("nothing is proven"), ends)
	default:
		v.Printf("%s, class %s: %s: of %s of %s %d are lossless (each direction by itself).\n", name, a.Class, v.state(a.Breaks), diag.Count(a.Pairs, "pair"), ends, a.Lossless)
	}
	v.row("covered", fmt.Sprintf("%s, %s between them in both directions, all routes", diag.Count(a.Switches, "switch"), diag.Count(a.Links, "cable")))
	if !a.Hosts {
		v.row("", "the hosts are not in the inventory, or none was read: nothing is proven of NICs; ends are ports of the lowest switches that lead to no other switch")
	}
	if a.Unjoined > 0 {
		v.row("left out", fmt.Sprintf("%s that no cables join: other planes or rails", diag.Count(a.Unjoined, "pair")))
	}
	if len(a.Unmanaged) > 0 {
		var names []string
		for _, u := range a.Unmanaged {
			names = append(names, u.String())
		}
		v.row("left out", fmt.Sprintf("%s: no host profile selects them, so what they send is unknown", diag.First(names, 3)))
	}
	for i, k := range a.Alike {
		if i == 8 {
			v.row("", fmt.Sprintf("and %s more", diag.Count(len(a.Alike)-i, "kind")))
			break
		}
		cnp := ""
		if k.CNP != "" {
			cnp = ", CNPs in class " + k.CNP
		}
		behind := ""
		if k.Port != k.Like {
			behind = " behind " + k.Port.String()
		}
		v.row([]string{"kinds", ""}[min(i, 1)], fmt.Sprintf("%d like %s%s: %s, %s, room %s%s", k.Count, k.Like, behind, carries(k.Packet), rate(k.Speed), k.Headroom, cnp))
	}
	v.aside(a.Aside)
	v.breaks(a.Breaks)
	if len(a.Paths) > 0 {
		v.example(a.Paths[0], a.Breaks)
	}
	v.assumes(a.Assumes)
}

// aside says what is wrong where nothing passes.
func (v View) aside(list []path.Joined) {
	for _, j := range list {
		var names []string
		for _, a := range j.Addresses {
			names = append(names, a.String())
		}
		v.row("aside", fmt.Sprintf("%s: %s; no route uses the cable while nothing is down", diag.First(names, 3), j.Break.What))
	}
}

// example prints one route that stands for the others: a broken one where there is one. Its breaks have the numbers of
// those of all pairs.
func (v View) example(p path.Path, kinds []path.Joined) {
	if len(p.Hops) == 0 {
		return
	}
	if len(kinds) == 0 {
		v.Printf("\n")
	}
	what, hops := "", p.Hops
	if !slices.ContainsFunc(hops, broken) && len(p.Others) > 0 {
		if hops = p.Others[0].Hops; p.Others[0].Answers {
			what = "the CNPs of "
		}
	} else if a := p.Answers; !slices.ContainsFunc(hops, broken) && a != nil && slices.ContainsFunc(a.Hops, broken) {
		what, hops = "the CNPs of ", a.Hops
	}
	v.Printf("  For example %s%s > %s:\n\n", what, p.From, p.To)
	v.hops(hops, p.Breaks, kinds)
	v.Printf("\n%s\n\n", v.Dim(legend))
}
