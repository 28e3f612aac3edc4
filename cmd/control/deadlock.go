package control

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof/deadlock"
)

// DeadlockProof is what was proven of the buffers of a fabric, or of an InfiniBand subnet.
type DeadlockProof struct {
	Name         string
	Dependencies deadlock.Dependencies
	Verdict      depend.Verdict
	Remedies     []depend.Remedy
	Subnets      *depend.Interchange // the InfiniBand subnets of a fabric and the routers between them; nil: it has none
}

// Free says whether nothing can wait for itself.
func (p DeadlockProof) Free() bool {
	return p.Verdict.Cycle == nil && p.Verdict.UnroutedPairs == 0 && (p.Subnets == nil || p.Subnets.Free)
}

// Answer is the form of the proof for programs.
func (p DeadlockProof) Answer() deadlock.Answer {
	return deadlock.AnswerOf(p.Dependencies, p.Verdict, p.Remedies, p.Subnets)
}

// ErrCutShort says that a proof was ended before it was through.
var ErrCutShort = errors.New("the proof was cut short: this fabric has too many states for it")

// DeadlockOptions say what a proof covers and what it starts from.
type DeadlockOptions struct {
	Failures int                               // how many links and switches may be down at once: 0, 1 or 2
	FIB      string                            // a file of routes, CSV or JSON, in place of the intent's policy; empty: none
	Progress func(total int) func(step string) // is told how many states there are, and gives what is told of each; nil: nobody
}

// proofLimit bounds the work of the proof, as depend.Question counts it: some minutes.
const proofLimit = 200_000_000_000

// ProveFabric proves that no cycle of buffers can form in a fabric. What is wrong with its routes is in the findings; where there
// are errors among them, nothing was proven.
func ProveFabric(f *fabric.Fabric, o DeadlockOptions) (DeadlockProof, diag.List, error) {
	p := DeadlockProof{Name: f.Name, Dependencies: deadlock.DependenciesOf(f)}
	if found := p.Dependencies.Findings; found.HasErrors() {
		return p, found, nil
	}
	if o.FIB != "" {
		if err := p.readFIB(f, o.FIB); err != nil {
			return p, nil, err
		}
	}
	if err := p.prove(o); err != nil {
		return p, nil, err
	}
	if len(f.Inventory.InfiniBand.Subnets) > 0 {
		x, err := deadlock.ProveSubnets(f.Inventory.InfiniBand)
		if err != nil {
			return p, nil, fmt.Errorf("prove the InfiniBand subnets: %w", err)
		}
		p.Subnets = &x
	}
	return p, nil, nil
}

// readFIB reads the routes of a file.
func (p *DeadlockProof) readFIB(f *fabric.Fabric, file string) error {
	names, err := deadlock.FIBNames(f)
	if err != nil {
		return err
	}
	body, err := drivers.ReadFile(file, maxTable)
	if err != nil {
		return fmt.Errorf("read the FIB: %w", err)
	}
	if p.Dependencies, err = p.Dependencies.ReadFIB(body, strings.HasSuffix(file, ".json"), names); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func (p *DeadlockProof) prove(o DeadlockOptions) (err error) {
	q := p.Dependencies.Question(o.Failures)
	q.Limit = proofLimit
	if o.Progress != nil {
		step := o.Progress(p.Dependencies.FailureStates(o.Failures))
		q.Progress = func(m depend.Model, _, _ int) { step(string(m)) }
	}
	p.Verdict, p.Remedies, err = p.Dependencies.Prove(q)
	return err
}

// SubnetFiles are an InfiniBand subnet as OpenSM dumped it, by the names of files. Those of lanes and levels may be empty.
type SubnetFiles struct {
	Links, Routes, Lanes, Levels string
	LMC                          int
}

// ProveSubnet proves that no credit loop can form in an InfiniBand subnet.
func ProveSubnet(files SubnetFiles, o DeadlockOptions) (DeadlockProof, error) {
	p := DeadlockProof{Name: "subnet"}
	sm := depend.OpenSM{LMC: files.LMC}
	for _, f := range []struct {
		name string
		to   *string
	}{{files.Links, &sm.Links}, {files.Routes, &sm.Routes}, {files.Lanes, &sm.Lanes}, {files.Levels, &sm.Levels}} {
		if f.name == "" {
			continue
		}
		body, err := drivers.ReadFile(f.name, maxTable)
		if err != nil {
			return p, fmt.Errorf("read the subnet: %w", err)
		}
		if len(bytes.TrimSpace(body)) == 0 {
			return p, fmt.Errorf("read the subnet: %s is empty", f.name)
		}
		*f.to = string(body)
	}
	s, err := sm.Read()
	if err != nil {
		return p, fmt.Errorf("read the subnet: %w", err)
	}
	p.Dependencies = deadlock.SubnetDependencies(s)
	return p, p.prove(o)
}
