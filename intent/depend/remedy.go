package depend

import "fmt"

// Remedy is a way to break the cycles that were found. Only what the proof, run again, says to be free of cycles is one.
type Remedy struct {
	Name       string
	Summary    string
	Priorities int        // of bumping: lossless priorities that it needs, in place of one
	Rules      []Bump     // of bumping and of leaving the lossless class
	Proof      string     // what the proof was run on again
	Covered    []Coverage // what the proof, run again, says
}

// The names of the remedies.
const (
	RemedyUpDown    = "up-down"
	RemedyBump      = "bump"
	RemedyLossy     = "lossy-off-path"
	RemedyDrop      = "drop-unknown"
	RemedyOwnBounce = "bounce-in-own-priority"
)

// Remedies are the ways to break the cycles of a verdict, the cheapest first. Each is verified. There are none for given
// tables: how else the network could be routed they do not say.
func Remedies(q Question, v Verdict) ([]Remedy, error) {
	if v.Cycle == nil || len(q.States) > 0 || q.FIB != nil || q.Virtual != nil {
		return nil, nil
	}
	tries := []func(Question, Verdict) (Remedy, bool, error){dropUnknown, ownBounce, upDown}
	if !q.extras() {
		tries = append(tries, bumpLossy, bumpLossless)
	}
	var out []Remedy
	for _, try := range tries {
		r, ok, err := try(q, v)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, r)
		}
	}
	return out, nil
}

// proven runs the proof on what a remedy makes of the question. It is no remedy where it leaves pairs without a route.
func (q Question) proven(r Remedy) (Remedy, bool, error) {
	q.Exhaustive, q.Progress = false, nil
	v, err := Prove(q)
	if err != nil {
		return Remedy{}, false, fmt.Errorf("prove the remedy %s: %w", r.Name, err)
	}
	r.Covered = v.Covered
	return r, v.Free && len(v.Unrouted) == 0, nil
}

// upDown proves the network again with valley-free routes.
func upDown(q Question, _ Verdict) (Remedy, bool, error) {
	if q.Policy == UpDown {
		return Remedy{}, false, nil
	}
	q.Policy, q.Plan, q.Failures = UpDown, nil, 2
	return q.proven(Remedy{
		Name:    RemedyUpDown,
		Summary: "route up and then down only: with BGP, give all switches of a rank in a pod one AS, so that each rejects routes through another of them",
		Proof:   "the healthy network, every one or two failures, and every mixture of their tables",
	})
}

// dropUnknown proves the network again without floods.
func dropUnknown(q Question, _ Verdict) (Remedy, bool, error) {
	if len(q.Flooded) == 0 {
		return Remedy{}, false, nil
	}
	q.Flooded = nil
	return q.proven(Remedy{
		Name:    RemedyDrop,
		Summary: "let switches drop lossless packets whose port they do not know, in place of flooding them",
		Proof:   "the same states without floods",
	})
}

// ownBounce proves the network again with a priority for what bounces. Where nothing is rewritten on the way, lossless
// priorities do not meet: the proof is for one of them and the one that its detours take, and holds for each.
func ownBounce(q Question, _ Verdict) (Remedy, bool, error) {
	const regular, detour = 0, 1
	if len(q.Bounces) == 0 || len(q.Rewrites) > 0 {
		return Remedy{}, false, nil
	}
	q.Lossless, q.Begin = []int{regular, detour}, []int{regular}
	bounces := make([]Bounce, len(q.Bounces))
	for i, b := range q.Bounces {
		bounces[i] = Bounce{b.From, b.To, detour - regular}
	}
	q.Bounces = bounces
	return q.proven(Remedy{
		Name: RemedyOwnBounce, Priorities: 2,
		Summary: "let traffic that bounces from one switch of a dual-homed host to the other go on in a lossless priority of its own",
		Proof:   "the same states with two priorities",
	})
}

// bumpLossy and bumpLossless prove the network again with the rules of bumping. They need to know how often traffic turns, in
// the healthy network and in the state that has the cycle.
func bumpLossy(q Question, v Verdict) (Remedy, bool, error) {
	need, where := q.need(v)
	loses := "traffic of these states that needs such a turn is then lossy"
	if need == 1 {
		loses = "once the routes have converged, no traffic of these states needs such a turn"
	}
	rules := Bumps(q.Network)
	return q.bumped(1, Remedy{
		Name: RemedyLossy, Rules: rules, Priorities: 1, Proof: where,
		Summary: fmt.Sprintf("let traffic that came down or sideways and turns up or sideways again go on in a lossy class, on %s: %s", count(len(rules)), loses),
	})
}

func bumpLossless(q Question, v Verdict) (Remedy, bool, error) {
	need, where := q.need(v)
	if need < 2 {
		return Remedy{}, false, nil
	}
	rules := Bumps(q.Network)
	return q.bumped(need, Remedy{
		Name: RemedyBump, Rules: rules, Priorities: need, Proof: where,
		Summary: fmt.Sprintf("let traffic that came down or sideways and turns up or sideways again go on in the next lossless priority, on %s: %d priorities keep the traffic of these states lossless, and what turns more often goes on in a lossy one",
			count(len(rules)), need),
	})
}

// bumped proves the rules of bumping by themselves: routes that are left without a way are none of theirs.
func (q Question) bumped(priorities int, r Remedy) (Remedy, bool, error) {
	v, err := Prove(q.bumping(priorities))
	if err != nil {
		return Remedy{}, false, fmt.Errorf("prove the remedy %s: %w", r.Name, err)
	}
	r.Covered = v.Covered
	return r, v.Free, nil
}

// need is how many priorities bumping needs, and for which states that was worked out.
func (q Question) need(v Verdict) (priorities int, where string) {
	l := newLayout(q.Network)
	var all []int
	for i := range q.Network.Destinations {
		all = append(all, i)
	}
	states, where := []*Tables{q.routes(l, all, failure{})}, "the healthy network"
	if f := v.Found.failure; !f.none() {
		states, where = append(states, q.routes(l, all, f)), "the healthy network, the state that has the cycle, and the two mixed"
	}
	return q.fewest(l, all, states...), where + "; in any other state each turn raises the priority or goes on up, sideways and down"
}

// count writes a number of switches.
func count(switches int) string {
	if switches == 1 {
		return "1 switch"
	}
	return fmt.Sprintf("%d switches", switches)
}
