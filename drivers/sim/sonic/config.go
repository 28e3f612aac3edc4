package sonic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
)

// configProcess is how ps shows the command.
const configProcess = "/usr/bin/python3 /usr/local/bin/config "

// config is the command of that name: what changes the configuration.
func (d *Device) config(ctx context.Context, i invocation, args []string) (int, error) {
	if !i.root {
		fmt.Fprintln(i.err, "Root privileges are required for this operation")
		return 1, nil
	}
	flags, names := []string{}, []string{}
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			flags = append(flags, a)
		} else {
			names = append(names, a)
		}
	}
	verb := ""
	if len(names) > 0 {
		verb, names = names[0], names[1:]
	}
	dry := slices.Contains(flags, "-d") || slices.Contains(flags, "--dry-run")
	switch {
	case verb == "load" && len(names) == 1:
		return d.load(ctx, i, names[0])
	case verb == "save":
		return d.save(ctx, i)
	case verb == "checkpoint" && len(names) == 1:
		return d.checkpoint(ctx, i, names[0])
	case verb == "rollback" && len(names) == 1:
		return d.rollback(ctx, i, names[0])
	case verb == "list-checkpoints" && len(names) == 0:
		return d.listCheckpoints(i)
	case verb == "delete-checkpoint" && len(names) == 1:
		return d.deleteCheckpoint(i, names[0])
	case verb == "apply-patch" && len(names) == 1:
		return d.applyPatch(ctx, i, names[0], dry)
	}
	fmt.Fprintln(i.err, "Usage: config [OPTIONS] COMMAND [ARGS]...\nTry \"config -h\" for help.")
	return 2, nil
}

// fault is what goes wrong with a change over SSH before it began: an error ends the command, a status answers it.
func (d *Device) fault(i invocation) (f sim.Fault, status int, err error) {
	f = d.hw.Fault(sim.Set)
	switch f.Kind {
	case sim.Reject:
		fmt.Fprintln(i.err, "Error: "+strings.TrimPrefix(notThere, "Error: "))
		return f, 2, nil
	case sim.DropBefore:
		return f, 0, sim.ErrDrop
	}
	return f, 0, nil
}

// load merges a file into the running configuration: it validates nothing and removes nothing.
func (d *Device) load(ctx context.Context, i invocation, name string) (int, error) {
	body, ok := d.readFile(name)
	if !ok {
		fmt.Fprintf(i.err, "The config_file %s does not exist\n", name)
		return 0, nil // as was observed
	}
	f, status, err := d.fault(i)
	if status != 0 || err != nil {
		return status, err
	}
	add, err := parseDatabase(body)
	if err != nil {
		fmt.Fprintf(i.err, "Error: %v\n", err)
		return 1, nil
	}
	fmt.Fprintf(i.out, "Running command: /usr/local/bin/sonic-cfggen -j %s --write-to-db\n", name)
	end := d.begin(configProcess + "load -y " + name)
	if f.Kind == sim.Hang { // it is not answered, and happens by itself later
		d.work.Go(func() {
			defer end()
			if d.hw.Sleep(context.Background(), hangTime) == nil {
				d.merge(add, 0)
			}
		})
		return 0, sim.ErrHang
	}
	defer end()
	if err := d.hw.Sleep(ctx, loadTime+time.Duration(add.values())*settingTime); err != nil {
		return 1, err
	}
	switch f.Kind {
	case sim.Partial, sim.Reboot:
		d.merge(add, len(add)/2)
		if f.Kind == sim.Reboot {
			return 0, sim.ErrHang
		}
		fmt.Fprintln(i.err, "redis.exceptions.ConnectionError: Connection closed by server.")
		return 1, nil
	case sim.Drop:
		d.merge(add, 0)
		return 0, sim.ErrDrop
	case sim.Ignore:
		return 0, nil
	case sim.Lie:
		before, _ := d.snapshot()
		d.lie(before, f.For)
	}
	d.merge(add, 0)
	return 0, nil
}

// merge writes the fields of add into the running configuration, but for the last tables.
func (d *Device) merge(add database, without int) {
	tables := slices.Sorted(maps.Keys(add))
	d.commit(func(db database) {
		for _, table := range tables[:len(tables)-without] {
			for key, fields := range add[table] {
				row := maps.Clone(db[table][key])
				if row == nil {
					row = map[string]string{}
				}
				maps.Copy(row, fields)
				db.put(table, key, row)
			}
		}
	})
}

func (d *Device) save(ctx context.Context, i invocation) (int, error) {
	defer d.begin(configProcess + "save -y")()
	if err := d.hw.Sleep(ctx, saveTime); err != nil {
		return 1, err
	}
	d.mu.Lock()
	d.saved = d.running
	d.mu.Unlock()
	fmt.Fprintln(i.out, "Running command: /usr/local/bin/sonic-cfggen -d --print-data > "+savedConfig)
	return 0, nil
}

func (d *Device) checkpoint(ctx context.Context, i invocation, name string) (int, error) {
	defer d.begin(configProcess + "checkpoint " + name)()
	if err := d.hw.Sleep(ctx, checkpointTime); err != nil {
		return 1, err
	}
	d.mu.Lock()
	d.checkpoints[name] = d.running
	d.mu.Unlock()
	fmt.Fprintf(i.out, "Config Rollbacker: Config checkpoint starting.\nConfig Rollbacker: Config checkpoint completed.\nCheckpoint created successfully.\n")
	return 0, nil
}

func (d *Device) listCheckpoints(i invocation) (int, error) {
	d.mu.Lock()
	names := slices.Sorted(maps.Keys(d.checkpoints))
	d.mu.Unlock()
	fmt.Fprintln(i.out, "[")
	for n, name := range names {
		comma := ","
		if n == len(names)-1 {
			comma = ""
		}
		fmt.Fprintf(i.out, "    %q%s\n", name, comma)
	}
	fmt.Fprintln(i.out, "]")
	return 0, nil
}

func (d *Device) deleteCheckpoint(i invocation, name string) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.checkpoints[name]; !ok {
		fmt.Fprintf(i.err, "Error: Checkpoint '%s' does not exist\n", name)
		return 2, nil
	}
	delete(d.checkpoints, name)
	fmt.Fprintln(i.out, "Checkpoint deleted successfully.")
	return 0, nil
}

// rollback goes back to a checkpoint through the updater, with all that it takes and flaps.
func (d *Device) rollback(ctx context.Context, i invocation, name string) (int, error) {
	d.mu.Lock()
	want, ok := d.checkpoints[name]
	d.mu.Unlock()
	if !ok {
		fmt.Fprintf(i.err, "Error: Checkpoint '%s' does not exist\n", name)
		return 2, nil
	}
	return d.throughUpdater(ctx, i, configProcess+"rollback "+name, 0,
		func(database) (database, error) { return want, nil }, "Config rolled back successfully.")
}

func (d *Device) applyPatch(ctx context.Context, i invocation, name string, dry bool) (int, error) {
	body, ok := d.readFile(name)
	if !ok {
		fmt.Fprintf(i.err, "Error: Could not open file '%s'\n", name)
		return 2, nil
	}
	ops, err := parsePatch(body)
	if err != nil {
		fmt.Fprintf(i.err, "Error: Failed to apply patch due to: %v\n", err)
		return 2, nil
	}
	process, only := configProcess+"apply-patch "+name, time.Duration(0)
	if dry {
		only = dryRunTime
	}
	return d.throughUpdater(ctx, i, process, only, func(have database) (database, error) { return patched(have, ops) }, "Patch applied successfully.")
}

// throughUpdater has the updater lead the device to what goal makes of the running configuration. With a dry run's time it
// only checks, for that long, and meets no fault of a change.
func (d *Device) throughUpdater(ctx context.Context, i invocation, process string, dry time.Duration, goal func(database) (database, error), done string) (int, error) {
	var f sim.Fault
	if dry == 0 {
		var status int
		var err error
		if f, status, err = d.fault(i); status != 0 || err != nil {
			return status, err
		}
	}
	if err := d.awaitUpdater(ctx, serverTimeout); err != nil {
		return 1, err
	}
	have, _ := d.snapshot()
	want, err := goal(have)
	if err == nil {
		err = refusal(have, want)
	}
	if err != nil || dry > 0 {
		slept := d.hw.Sleep(ctx, max(dry, dryRunTime))
		<-d.turn
		switch {
		case slept != nil:
			return 1, slept
		case err != nil:
			fmt.Fprintln(i.err, "Error: "+strings.TrimPrefix(err.Error(), "Error: "))
			return 2, nil
		}
		fmt.Fprintln(i.out, "** DRY RUN EXECUTION **")
		return 0, nil
	}
	outcome := d.update(task{process: process, want: want, fault: f})
	if f.Kind == sim.Hang || f.Kind == sim.Reboot {
		return 0, sim.ErrHang
	}
	select {
	case err = <-outcome:
	case <-ctx.Done():
		return 1, ctx.Err()
	}
	switch {
	case errors.Is(err, sim.ErrHalted):
		return 1, err
	case err != nil:
		fmt.Fprintln(i.err, "Error: "+strings.TrimPrefix(err.Error(), "Error: "))
		return 2, nil
	case f.Kind == sim.Drop:
		return 0, sim.ErrDrop
	}
	fmt.Fprintln(i.out, done)
	return 0, nil
}
