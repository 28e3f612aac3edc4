package sim

import "sync"

// faults is what a device was asked to do wrong, by operation, in the order it was asked.
type faults struct {
	mu    sync.Mutex
	queue map[string][]Fault
}

// inject asks for f at the next operation of that name that has nothing asked for yet.
func (f *faults) inject(operation string, fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.queue == nil {
		f.queue = map[string][]Fault{}
	}
	f.queue[operation] = append(f.queue[operation], fault)
}

// take is the fault of the operation that happens now, and forgets it.
func (f *faults) take(operation string) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	waiting := f.queue[operation]
	if len(waiting) == 0 {
		return NoFault
	}
	f.queue[operation] = waiting[1:]
	return waiting[0]
}
