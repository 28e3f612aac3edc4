package depend

import "fmt"

// Routes are the forwarding tables of all switches by a policy that needs nothing but the network, with nothing down. An error
// says that the network or the policy makes no sense.
func Routes(n *Network, p Policy) (*Tables, error) { return Question{Network: n, Policy: p}.Routes() }

// Routes are the forwarding tables of all switches with nothing down, by the policy or the FIB of a question.
func (q Question) Routes() (*Tables, error) {
	if err := q.validate(); err != nil {
		return nil, err
	}
	if len(q.States) > 0 {
		return nil, fmt.Errorf("the tables of %d states are given", len(q.States))
	}
	all := make([]int, len(q.Network.Destinations))
	for i := range all {
		all[i] = i
	}
	return q.routes(newLayout(q.Network), all, failure{}), nil
}

// Over is the set of destinations that the tail of an arc sends over it: bit d%64 of word d/64 stands for destination d. It
// must not be changed.
func (t *Tables) Over(a Arc) []uint64 { return t.row(a) }
