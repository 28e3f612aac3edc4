package cli

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
)

// Discover asks for the running configuration, whose head says who the switch is.
func (l *Language) Discover() []plan.Query { return l.Queries(nil)[:1] }

// Survey asks for what Read is given.
func (l *Language) Survey(render.Identity) []plan.Query { return l.Queries(nil) }

// Identify reads the facts of the running configuration and the names of its ports. How fast these are, it does not say.
func (l *Language) Identify(answers []plan.Answer) (render.Identity, error) {
	text, err := l.running(answers)
	if err != nil {
		return render.Identity{}, err
	}
	facts := map[string]string{}
	id := render.Identity{Platform: l.name}
	eachLine(l.pack, text, func(comment string) {
		for _, f := range l.pack.Facts {
			maps.Copy(facts, f.Groups(comment))
		}
	}, func(line line) {
		rule, holes, _ := l.any.find(line.words)
		if rule == nil || rule.item.Port == "" || line.indent > 0 {
			return
		}
		name := holes[rule.item.Port]
		if ok, err := path.Match(l.pack.Ports, strings.ReplaceAll(name, "/", "-")); ok && err == nil {
			id.Ports = append(id.Ports, render.Port{Name: name})
		}
	})
	id.Name, id.SKU, id.Release = facts["name"], facts["sku"], facts["version"]
	slices.SortFunc(id.Ports, func(a, b render.Port) int { return addr.Natural(a.Name, b.Name) })
	return id, nil
}

// running is the running configuration, where it is whole.
func (l *Language) running(answers []plan.Answer) (string, error) {
	i := slices.IndexFunc(answers, func(a plan.Answer) bool { return a.Name == l.pack.Query.Name && !a.Missing })
	if i < 0 {
		return "", fmt.Errorf("the device did not show its %s", l.pack.Query.Name)
	}
	text := string(answers[i].Body)
	return text, l.whole(text)
}

// Lift reads the running configuration, and the tables that say what it leaves out. Objects have whatever names others gave them: a
// port has what it says itself, what its profile says, and what the switch says.
func (l *Language) Lift(id render.Identity, answers []plan.Answer) (fabric.Lifted[*fabric.Switch], diag.List) {
	sw := id.Switch()
	t := &lifter{Language: l, sw: sw, Gaps: fabric.Gaps{Platform: l.name, SKU: id.SKU, Release: id.Release}, objects: map[string]*body{}, ports: map[string]*body{}}
	text, err := l.running(answers)
	if err != nil {
		t.Strange(err.Error(), sw.Address())
		return fabric.Lifted[*fabric.Switch]{Device: sw, Gaps: t.Sorted()},
			diag.List{{Severity: diag.Error, Check: check, Addr: sw.Address(), Summary: fmt.Sprintf("it cannot be lifted: %v", err)}}
	}
	for _, p := range sw.Ports {
		t.ports[p.Name] = &body{}
	}
	for _, a := range answers {
		if a.Name == l.pack.Tables.Query.Name && !a.Missing {
			t.read(strings.Join(implied(l.pack.Tables, string(a.Body)), "\n"))
		}
	}
	t.read(text)
	t.lift()
	lifted := fabric.Lifted[*fabric.Switch]{Device: sw, Gaps: t.Sorted()}
	return lifted, lifted.Report(sw.Address())
}

// lifter sorts the lines of one switch into what is said of the switch, of objects and of ports, and lifts that.
type lifter struct {
	*Language
	fabric.Gaps
	sw      *fabric.Switch
	global  body
	objects map[string]*body // by name, as Object of the grammar fills it
	ports   map[string]*body
	within  []place
}

// body is what is said in one place.
type body struct {
	said    []clause
	unknown []clause // lines that no rule knows, with the settings that they may be about
}

// clause is one setting of one line.
type clause struct {
	at    addr.Addr // below the port or the device
	value string
	uses  string // the object that it names
	rule  *rule
	line  string // with the blocks that it stands in
}

// place is a block that is open while lines are read.
type place struct {
	indent int
	header string
	inside *scope // nil: nothing in there is known
	body   *body  // nil: of no port that is asked for
	holes  binding
	object bool // the block is an object, or is inside of a port: every line in it counts
}

func (t *lifter) read(text string) {
	t.within = []place{{indent: -1, inside: t.any, body: &t.global}}
	eachLine(t.pack, text, func(string) {}, t.line)
}

func (t *lifter) line(l line) {
	n := len(t.within)
	for t.within[n-1].indent >= l.indent {
		n--
	}
	t.within = t.within[:n]
	in := t.within[n-1]
	text := strings.Join(l.words, " ")
	rule, holes, off := in.inside.find(l.words)
	next := place{indent: l.indent, header: text}
	switch {
	case rule == nil:
		t.unknown(in, text)
	case rule.inside == nil:
		t.say(in, rule, holes, off)
	default:
		inherit(holes, in.holes)
		next.inside, next.holes, next.body, next.object = rule.inside, holes, in.body, in.header != ""
		switch {
		case rule.item.Port != "":
			if next.body = t.ports[holes[rule.item.Port]]; next.body == nil {
				t.unknown(in, text) // an interface that is no port of the switch may stand for all of them
			}
		case rule.item.Object != "":
			name := fill(rule.item.Object, holes)
			if t.objects[name] == nil {
				t.objects[name] = &body{}
			}
			next.body, next.object = t.objects[name], true
		}
	}
	t.within = append(t.within, next)
}

// say notes what a line that a rule knows says. Of a list each word is a clause.
func (t *lifter) say(in place, r *rule, holes binding, off bool) {
	if in.body == nil {
		return
	}
	inherit(holes, in.holes)
	value := r.item.OffSays
	if !off {
		value = decimals(r.value.render(holes))
	}
	words := []string{""}
	if r.list != "" {
		words = strings.Fields(holes[r.list])
	}
	line := t.quote(r.spell(holes, off))
	for _, word := range words {
		if r.list != "" {
			holes[r.list] = word
		}
		in.body.said = append(in.body.said, clause{
			at: spell(addr.Addr{}, fill(r.item.At, holes)), value: value, uses: fill(r.item.Uses, holes), rule: r, line: line,
		})
	}
}

// spell is the line as it was read.
func (r *rule) spell(holes binding, off bool) string {
	if off {
		return r.off.render(holes)
	}
	return r.line.render(holes)
}

// quote is a line with the blocks around it.
func (t *lifter) quote(line string) string {
	words := []string{}
	for _, p := range t.within[1:] {
		words = append(words, p.header)
	}
	return diag.Excerpt(strings.Join(append(words, line), ": "))
}

// unknown notes a line that no rule knows, where the block is an object, or where it concerns what weir knows of.
func (t *lifter) unknown(in place, text string) {
	if in.object {
		at := addr.Addr{}
		if queue := in.holes["queue"]; queue != "" {
			at = at.Of(addr.Queue, queue)
		}
		in.body.unknown = append(in.body.unknown, clause{at: at, line: t.quote(text)})
		return
	}
	if in.body == nil {
		return
	}
	for _, c := range t.pack.Concerns {
		if begins(text, c.Begins) && (c.In == "") == (in.header == "") && begins(in.header, c.In) {
			in.body.unknown = append(in.body.unknown, clause{at: spell(addr.Addr{}, c.At), line: t.quote(text)})
			return
		}
	}
}

// begins says whether a text begins with the words.
func begins(text, words string) bool {
	rest, ok := strings.CutPrefix(text, words)
	return ok && (rest == "" || rest[0] == ' ' || words == "")
}
