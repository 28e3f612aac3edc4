package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirfabric/weir/host"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/render/cli"
	"github.com/weirfabric/weir/render/sonic"
	"github.com/weirfabric/weir/templates"
)

// The languages, by platform. A new one is a line here.
var (
	switchLanguages = map[string]render.Language[*fabric.Switch]{
		"sonic": sonic.Language{},
		"eos":   cli.Must(templates.FS, "eos"),
		"rgos":  cli.Must(templates.FS, "rgos"),
	}
	hostLanguages = map[string]render.Language[*fabric.Host]{
		"linux": host.Language{},
	}
	// filesOnly are the platforms whose configuration weir writes into files for a person to type: too little is known of them to
	// talk to their devices.
	filesOnly = map[string]bool{"rgos": true}
)

// known lists the platforms of a table.
func known[T any](table map[string]T) string {
	return strings.Join(slices.Sorted(maps.Keys(table)), ", ")
}

func sortedNames[T any](byName map[string]T) []string {
	return slices.SortedFunc(maps.Keys(byName), addr.Natural)
}

// printJSON writes one JSON document to out.
func (c *console) printJSON(value any) error {
	e := json.NewEncoder(c.out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}
