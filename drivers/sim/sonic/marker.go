package sonic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mayWrite says whether a file may be made, changed or removed: those below /etc are root's.
func (i invocation) mayWrite(name string) bool { return i.root || !strings.HasPrefix(name, "/etc/") }

// printf is printf FORMAT WORD > FILE, for formats of %s and \n only.
func (d *Device) printf(i invocation, args []string) (int, error) {
	if at := slices.Index(args, ">"); at == 2 && len(args) == 4 && args[0] == "%s\\n" {
		if !i.mayWrite(args[3]) {
			fmt.Fprintf(i.err, "bash: %s: Permission denied\n", args[3])
			return 1, nil
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.files[args[3]] = []byte(args[1] + "\n")
		return 0, nil
	}
	if len(args) == 1 && !strings.ContainsAny(args[0], `%\`) {
		fmt.Fprint(i.out, args[0])
		return 0, nil
	}
	fmt.Fprintln(i.err, "bash: printf: the lab knows one word, and one format with WORD > FILE")
	return 2, nil
}

// link is ln -T: a second name of a file, or a refusal where the name is taken.
func (d *Device) link(i invocation, args []string) int {
	if len(args) != 3 || args[0] != "-T" {
		fmt.Fprintln(i.err, "ln: the lab knows ln -T TARGET LINK_NAME only")
		return 1
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	body, ok := d.files[args[1]]
	_, taken := d.files[args[2]]
	why := ""
	switch {
	case !ok:
		fmt.Fprintf(i.err, "ln: failed to access '%s': No such file or directory\n", args[1])
		return 1
	case !i.mayWrite(args[2]):
		why = "Permission denied"
	case taken || slices.Contains(d.folders, args[2]):
		why = "File exists"
	}
	if why != "" {
		fmt.Fprintf(i.err, "ln: failed to create hard link '%s': %s\n", args[2], why)
		return 1
	}
	d.files[args[2]] = body
	return 0
}

// head is head -c N FILE.
func (d *Device) head(i invocation, args []string) (int, error) {
	if len(args) != 3 || args[0] != "-c" {
		fmt.Fprintln(i.err, "head: the lab knows head -c N FILE only")
		return 1, nil
	}
	count, err := strconv.Atoi(args[1])
	body, ok := d.readFile(args[2])
	switch {
	case err != nil || count < 0:
		fmt.Fprintf(i.err, "head: invalid number of bytes: '%s'\n", args[1])
		return 1, nil
	case d.isFolder(args[2]):
		fmt.Fprintf(i.err, "head: error reading '%s': Is a directory\n", args[2])
		return 1, nil
	case !ok:
		fmt.Fprintf(i.err, "head: cannot open '%s' for reading: No such file or directory\n", args[2])
		return 1, nil
	}
	_, err = i.out.Write(body[:min(count, len(body))])
	return 0, err
}

// grep is grep -qxF LINE FILE: whether a line of the file is exactly this one.
func (d *Device) grep(i invocation, args []string) int {
	if len(args) != 3 || args[0] != "-qxF" {
		fmt.Fprintln(i.err, "grep: the lab knows grep -qxF LINE FILE only")
		return 2
	}
	body, ok := d.readFile(args[2])
	switch {
	case !ok:
		fmt.Fprintf(i.err, "grep: %s: No such file or directory\n", args[2])
		return 2
	case slices.Contains(strings.Split(string(body), "\n"), args[1]):
		return 0
	}
	return 1
}
