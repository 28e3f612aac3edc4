package depend

import "errors"

// Prove answers the question. An error means that it makes no sense or cannot be answered.
func Prove(q Question) (Verdict, error) {
	if err := q.validate(); err != nil {
		return Verdict{}, err
	}
	p := &prover{question: q, layout: newLayout(q.Network)}
	if q.extras() {
		p.extras = q.compile(p.layout)
	}
	for i := range q.Network.Destinations {
		p.all = append(p.all, i)
	}
	if len(q.States) > 0 {
		p.given()
	} else if err := p.routed(); err != nil {
		return Verdict{}, err
	}
	p.verdict.Complete = true
	for _, c := range p.verdict.Covered {
		p.verdict.Complete = p.verdict.Complete && c.Complete()
	}
	p.verdict.Free = p.verdict.Complete && p.verdict.Cycle == nil
	return p.verdict, nil
}

// prover holds what Prove has worked out so far.
type prover struct {
	question Question
	*layout
	all     []int // every destination
	healthy *Tables
	reached sets
	graph   *graph // of the healthy network
	falling []turn // its turns that do not raise the potential
	extras  *extras
	certain bool // no state of any model has a cycle, by certificate
	verdict Verdict
}

// certificate says whether a potential is known to rise at every turn of every state and mixture.
func (p *prover) certificate() bool {
	valleyFree := p.question.Policy == UpDown
	if p.question.Policy == BGP {
		p.verdict.Leaks = p.question.Plan.leaks(p.layout)
		valleyFree = len(p.verdict.Leaks) == 0
	}
	if p.extras == nil {
		return valleyFree
	}
	return valleyFree && p.extras.steady(p.layout) || p.layout.certain(p.extras)
}

// routed proves a network whose routes follow a policy or a FIB.
func (p *prover) routed() error {
	p.certain = p.certificate()
	p.healthy = p.question.routes(p.layout, p.all, failure{})
	p.reached = p.reach(p.healthy, p.all, failure{})
	p.unrouted()
	cover := Coverage{Model: Healthy, States: 1, Tried: 1}
	whole := mixture{destinations: p.all, tables: p.healthy, reached: p.reached, layers: []layer{{tables: p.healthy}}}
	cycle := p.healthyCycle(whole, &cover)
	if p.certain && (cycle != nil || len(p.falling) > 0) {
		return errors.New("the certificate holds and a turn does not raise the potential: this is a mistake in weir")
	}
	if cycle != nil {
		cover.Cyclic = 1
		p.found(Found{Model: Healthy}, cycle)
	}
	p.verdict.Covered = append(p.verdict.Covered, cover)
	p.work = 0
	p.failures()
	return nil
}

// healthyCycle is a shortest cycle of the healthy network. Its graph is kept: states with failures add to it.
func (p *prover) healthyCycle(m mixture, cover *Coverage) []Step {
	if p.extras != nil {
		nodes, turns, method, cycle := p.cycle(m, failure{})
		p.verdict.Nodes, p.verdict.Turns, cover.Method = nodes, turns, method
		return cycle
	}
	p.graph, p.falling = p.dependencies(m.tables, m.reached)
	p.verdict.Nodes, p.verdict.Turns, cover.Method = p.graph.nodes, len(p.graph.turns), Certificate
	if len(p.falling) == 0 {
		return nil
	}
	cover.Method = Exhaustion
	if cycle := p.graph.shortest(heads(p.falling)); cycle != nil {
		return p.explain(cycle, m)
	}
	return nil
}

// cycle looks for a shortest cycle in tables of their own: those of all destinations.
func (p *prover) cycle(m mixture, dead failure) (nodes, turns int, method Method, steps []Step) {
	method = Exhaustion
	if p.extras != nil {
		s := p.follow(p.extras, m.tables, m.destinations, dead)
		g := s.graph()
		if p.certain {
			method = Certificate
		}
		if cycle := g.shortest(g.all()); cycle != nil {
			steps = s.explain(cycle, m)
		}
		return g.nodes, len(g.turns), method, steps
	}
	g, falling := p.dependencies(m.tables, m.reached)
	if len(falling) == 0 {
		method = Certificate
	} else if cycle := g.shortest(heads(falling)); cycle != nil {
		steps = p.explain(cycle, m)
	}
	return g.nodes, len(g.turns), method, steps
}

// given proves given tables: every state by itself, then the mixture of all.
func (p *prover) given() {
	p.certain = p.extras != nil && p.layout.certain(p.extras)
	mixed := mixture{destinations: p.all, tables: NewTables(p.Network)}
	alone := Coverage{Model: GivenTables, States: len(p.question.States), Tried: len(p.question.States), Method: Certificate}
	prove := func(m mixture, cover *Coverage) {
		m.reached = p.reach(m.tables, p.all, failure{})
		nodes, turns, method, cycle := p.cycle(m, failure{})
		p.verdict.Nodes, p.verdict.Turns = nodes, turns
		if method == Exhaustion {
			cover.Method = method
		}
		if cycle != nil {
			cover.Cyclic++
			p.found(Found{Model: GivenTables, Transition: cover.Transition}, cycle)
		}
	}
	for _, s := range p.question.States {
		s.Tables = s.Tables.without(p.question.Blocked)
		one := layer{state: s.Name, tables: s.Tables}
		mixed.layers = append(mixed.layers, one)
		mixed.tables.merge(s.Tables)
		prove(mixture{destinations: p.all, tables: s.Tables, layers: []layer{one}}, &alone)
	}
	p.verdict.Covered = append(p.verdict.Covered, alone)
	if len(p.question.States) > 1 {
		all := Coverage{Model: GivenTables, Transition: true, States: 1, Tried: 1, Method: Certificate}
		prove(mixed, &all)
		p.verdict.Covered = append(p.verdict.Covered, all)
	}
}

// heads are the arcs that the turns lead to.
func heads(turns []turn) []Arc {
	out := make([]Arc, len(turns))
	for i, t := range turns {
		out[i] = t.out
	}
	return out
}
