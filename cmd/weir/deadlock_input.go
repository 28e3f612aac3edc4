package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof/deadlock"
)

// withFIB reads the routes of a file.
func withFIB(f *fabric.Fabric, d deadlock.Dependencies, file string) (deadlock.Dependencies, error) {
	names, err := deadlock.FIBNames(f)
	if err != nil {
		return d, err
	}
	body, err := os.ReadFile(file)
	if err != nil {
		return d, fmt.Errorf("read the FIB: %w", err)
	}
	if d, err = d.ReadFIB(body, strings.HasSuffix(file, ".json"), names); err != nil {
		return d, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

// subnet proves an InfiniBand subnet.
func (c *console) subnet(args []string, o deadlockOptions) error {
	switch {
	case o.lst == "" || o.fdbs == "":
		return errors.New("an InfiniBand subnet needs both --lst and --fdbs")
	case o.failuresSaid:
		return errors.New("--failures is for fabric repos: the tables of a subnet say nothing of those after a failure")
	case len(args) > 0 || o.fib != "" || o.rules != "":
		return errors.New("--lst and --fdbs are in place of a fabric repo: they go with --sl2vl, --levels, --lmc, --svg and --json only")
	}
	sm := depend.OpenSM{LMC: o.lmc}
	for _, f := range []struct {
		name string
		to   *string
	}{{o.lst, &sm.Links}, {o.fdbs, &sm.Routes}, {o.lanes, &sm.Lanes}, {o.levels, &sm.Levels}} {
		if f.name == "" {
			continue
		}
		body, err := os.ReadFile(f.name)
		if err != nil {
			return fmt.Errorf("read the subnet: %w", err)
		}
		if len(bytes.TrimSpace(body)) == 0 {
			return fmt.Errorf("read the subnet: %s is empty", f.name)
		}
		*f.to = string(body)
	}
	s, err := sm.Read()
	if err != nil {
		return fmt.Errorf("read the subnet: %w", err)
	}
	return c.deadlock("subnet", nil, deadlock.SubnetDependencies(s), o)
}

// between proves the InfiniBand subnets of a fabric and the routers between them; nil where it has none.
func between(f *fabric.Fabric) (*depend.Interchange, error) {
	if f == nil || len(f.Inventory.InfiniBand.Subnets) == 0 {
		return nil, nil
	}
	x, err := deadlock.ProveSubnets(f.Inventory.InfiniBand)
	if err != nil {
		return nil, fmt.Errorf("prove the InfiniBand subnets: %w", err)
	}
	return &x, nil
}
