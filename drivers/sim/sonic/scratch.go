package sonic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// programs is where the switch's own programs are. One that is removed is not found any more.
const programs = "/usr/local/bin/"

// removed says whether somebody removed the program.
func (d *Device) removed(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gone[programs+name]
}

// removeAll removes a folder with all that is in it, or a program.
func (d *Device) removeAll(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if strings.HasPrefix(name, programs) {
		d.gone[name] = true
	}
	d.folders = slices.DeleteFunc(d.folders, func(f string) bool { return f == name })
	for path := range d.files {
		if path == name || strings.HasPrefix(path, name+"/") {
			delete(d.files, path)
		}
	}
}

// test is test -s FILE and test A -eq B.
func (d *Device) test(args []string) int {
	switch {
	case len(args) == 2 && args[0] == "-s":
		if body, ok := d.readFile(args[1]); ok && len(body) > 0 {
			return 0
		}
	case len(args) == 3 && args[1] == "-eq" && args[0] == args[2]:
		return 0
	}
	return 1
}

// mktemp is mktemp -d with a pattern. The names follow each other: nobody in the lab guesses them.
func (d *Device) mktemp(i invocation, args []string) (int, error) {
	if len(args) != 2 || args[0] != "-d" {
		fmt.Fprintln(i.err, "mktemp: too few X's in template")
		return 1, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.made++
	stem := strings.TrimRight(args[1], "X")
	number := strconv.Itoa(d.made)
	name := stem + strings.Repeat("a", max(0, len(args[1])-len(stem)-len(number))) + number
	d.folders = append(d.folders, name)
	_, err := fmt.Fprintln(i.out, name)
	return 0, err
}

// find is find FOLDER ... -name 'STEM*' ... -exec rm -rf {} +: it knows folders only.
func (d *Device) find(i invocation, args []string) int {
	at := slices.Index(args, "-name")
	if len(args) == 0 || at < 0 || at+1 == len(args) || !slices.Contains(args, "-exec") {
		fmt.Fprintln(i.err, "find: the lab knows -name and -exec rm -rf {} + only")
		return 1
	}
	stem := args[0] + "/" + strings.TrimSuffix(args[at+1], "*")
	d.mu.Lock()
	folders := slices.Clone(d.folders)
	d.mu.Unlock()
	for _, f := range folders {
		if strings.HasPrefix(f, stem) {
			d.removeAll(f)
		}
	}
	return 0
}

// bigRedSwitch is pfcwd big_red_switch enable: it writes a field that no YANG model has.
func (d *Device) bigRedSwitch(i invocation, args []string) (int, error) {
	if !i.root || len(args) != 2 || args[0] != "big_red_switch" {
		fmt.Fprintln(i.err, "Usage: pfcwd big_red_switch [enable|disable]")
		return 2, nil
	}
	d.merge(database{"PFC_WD": {"GLOBAL": {"BIG_RED_SWITCH": args[1]}}}, 0)
	return 0, nil
}

// expanded replaces a word that ends with a star by the folders that begin so, where there are any.
func (d *Device) expanded(words []string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, w := range words {
		found := len(out)
		if stem, star := strings.CutSuffix(w, "*"); star {
			for _, f := range d.folders {
				if strings.HasPrefix(f, stem) {
					out = append(out, f)
				}
			}
		}
		if len(out) == found {
			out = append(out, w)
		}
	}
	return out
}

func (d *Device) isFolder(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.folders, name)
}
