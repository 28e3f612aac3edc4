package control

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/inventory/catalog"
	"github.com/weirfabric/weir/render"
)

var update = flag.Bool("update", false, "write docs/platforms.md")

func TestThePlatformsAreDocumented(t *testing.T) {
	const name = "../../docs/platforms.md"
	got := platforms()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/platforms.md is not what the languages say (-want +got):\n%s", diff)
	}
}

// platforms is docs/platforms.md.
func platforms() string {
	var out strings.Builder
	out.WriteString(`# What comes back from each platform

Generated from the languages (make golden): do not edit. weir reads back what runs on a device in the words of the intent, whoever
configured it ("lifted"). Every setting that weir writes comes back as it was written, but for the rows below; a test tries it on random
devices. Sizes are in bytes, times in seconds, rates in bits a second, whatever the device counts in. What is not lifted counts as not
known, and proves nothing.

What no configuration holds is nobody's to lift: the names of classes, labels, who is at the other end of a cable; and of a host the
files by which it does the same again after a reboot.

`)
	exclusions := map[string][]render.Exclusion{}
	for platform, l := range switchLanguages {
		exclusions[platform] = l.Exclusions()
	}
	for platform, l := range hostLanguages {
		exclusions[platform] = l.Exclusions()
	}
	for _, platform := range sortedNames(exclusions) {
		fmt.Fprintf(&out, "## %s\n\n| setting | what comes back | why |\n|---|---|---|\n", platform)
		var names []string
		for i, x := range exclusions[platform] {
			names = append(names, "`"+x.Of.String()+"`")
			if next := i + 1; next < len(exclusions[platform]) && exclusions[platform][next].Why == x.Why && exclusions[platform][next].Back == x.Back {
				continue
			}
			fmt.Fprintf(&out, "| %s | %s | %s |\n", strings.Join(names, ", "), x.Back, cell(x.Why))
			names = nil
		}
		out.WriteString(defaultsOf(platform))
		out.WriteString("\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// cell is a text as one cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// defaultsOf are the catalogued defaults of a platform.
func defaultsOf(platform string) string {
	rows := slices.DeleteFunc(slices.Clone(catalog.Defaults()), func(d catalog.Default) bool { return d.Platform != platform })
	if len(rows) == 0 {
		return ""
	}
	slices.SortFunc(rows, func(a, b catalog.Default) int { return addr.Compare(a.Of, b.Of) })
	var out strings.Builder
	out.WriteString("\nWhat holds where the device says nothing; of everything else that is not known.\n\n| setting | default | source |\n|---|---|---|\n")
	for _, d := range rows {
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", d.Of, d.Value, cell(d.Source))
	}
	return out.String()
}
