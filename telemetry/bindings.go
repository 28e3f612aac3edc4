package telemetry

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/weirfabric/weir/templates/pack"
)

// ReadBindings is where a platform keeps what the catalog names: the section counters of its pack, each of whose fields is held
// against the catalog.
func ReadBindings(packs fs.FS, platform string) (pack.Counters, error) {
	c, err := pack.ReadCounters(packs, platform)
	if err != nil {
		return pack.Counters{}, err
	}
	if err := check(c); err != nil {
		return pack.Counters{}, fmt.Errorf("read section counters of %s/pack.yaml: %w", platform, err)
	}
	return c, nil
}

// check finds what a decoder cannot: metrics that do not exist, and counters that are asked for on change.
func check(c pack.Counters) error {
	var errs []error
	fields := func(where string, fs map[string]pack.Field, change bool) {
		for name, f := range fs {
			switch m := Find(f.Metric); {
			case m == nil:
				errs = append(errs, fmt.Errorf("%s: %s: no metric %q in the catalog", where, name, f.Metric))
			case change && m.Counter:
				errs = append(errs, fmt.Errorf("%s: %s: %s is a counter: sample it", where, name, f.Metric))
			}
			if _, err := statusOf(f); err != nil {
				errs = append(errs, fmt.Errorf("%s: %s: %w", where, name, err))
			}
			if !slices.Contains([]pack.Absent{pack.AbsentUnsupported, pack.AbsentZero, pack.AbsentDisabled}, f.Absent) {
				errs = append(errs, fmt.Errorf("%s: %s: absent %q: want zero or disabled", where, name, f.Absent))
			}
		}
	}
	needs := func(where string, f pack.Feature) {
		if !slices.Contains([]pack.Feature{"", pack.FeaturePFC, pack.FeatureWatchdog}, f) {
			errs = append(errs, fmt.Errorf("%s: needs %q: want pfc or watchdog", where, f))
		}
	}
	for _, p := range c.Streams {
		needs(p.Path, p.Needs)
		fields(p.Path, p.Fields, p.Change)
		if p.Every <= 0 {
			errs = append(errs, fmt.Errorf("%s: every: want an interval", p.Path))
		}
	}
	for _, p := range c.Polls {
		needs(p.Name, p.Needs)
		fields(p.Name, p.Fields, false)
		if !slices.Contains([]string{"lines", "json", "table"}, p.Form) {
			errs = append(errs, fmt.Errorf("%s: form %q: want lines, json or table", p.Name, p.Form))
		}
		if p.Every <= 0 {
			errs = append(errs, fmt.Errorf("%s: every: want an interval", p.Name))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}
