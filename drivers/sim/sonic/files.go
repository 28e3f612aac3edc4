package sonic

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// savedConfig is where the persistent configuration stands.
const savedConfig = "/etc/sonic/config_db.json"

// file is cat, rm, mv and ls, on the files that people put on the switch and the persistent configuration.
func (d *Device) file(i invocation, args []string) (int, error) {
	if at := slices.Index(args, ">"); args[0] == "cat" && at == 1 && len(args) == 3 {
		body, err := io.ReadAll(i.in)
		if err != nil {
			return 1, fmt.Errorf("read %s: %w", args[2], err)
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.files[args[2]] = body
		return 0, nil
	}
	if args[0] == "mv" {
		return d.move(i, args[1:])
	}
	status := 0
	for _, name := range d.expanded(args[1:]) {
		if strings.HasPrefix(name, "-") {
			continue
		}
		if args[0] == "ls" && d.isFolder(name) {
			fmt.Fprintln(i.out, name)
			continue
		}
		body, ok := d.readFile(name)
		switch {
		case args[0] == "rm" && (slices.Contains(args, "-rf") || strings.HasPrefix(name, programs)):
			d.removeAll(name)
		case args[0] == "rm" && ok && !i.mayWrite(name):
			fmt.Fprintf(i.err, "rm: cannot remove '%s': Permission denied\n", name)
			status = 1
		case args[0] == "rm":
			d.mu.Lock()
			delete(d.files, name)
			d.mu.Unlock()
			if !ok && !slices.Contains(args, "-f") {
				fmt.Fprintf(i.err, "rm: cannot remove '%s': No such file or directory\n", name)
				status = 1
			}
		case !ok:
			fmt.Fprintf(i.err, "%s: %s: No such file or directory\n", args[0], name)
			status = 1
		case args[0] == "ls":
			fmt.Fprintln(i.out, name)
		default:
			if _, err := i.out.Write(body); err != nil {
				return 1, err
			}
		}
	}
	return status, nil
}

// move renames a file.
func (d *Device) move(i invocation, args []string) (int, error) {
	names := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
	if len(names) != 2 {
		fmt.Fprintln(i.err, "mv: missing destination file operand")
		return 1, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	body, ok := d.files[names[0]]
	if !ok {
		fmt.Fprintf(i.err, "mv: cannot stat '%s': No such file or directory\n", names[0])
		return 1, nil
	}
	delete(d.files, names[0])
	d.files[names[1]] = body
	return 0, nil
}

// readFile is the content of a file.
func (d *Device) readFile(name string) ([]byte, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if name == savedConfig {
		return d.saved.print(), true
	}
	body, ok := d.files[name]
	return body, ok
}

// pgrep finds what changes the configuration now; of other processes the lab has none.
func (d *Device) pgrep(i invocation, args []string) (int, error) {
	var pattern string
	long := false
	for _, a := range args {
		switch {
		case a == "-a" || a == "-fa" || a == "-af":
			long = true
		case !strings.HasPrefix(a, "-"):
			pattern = a
		}
	}
	expression, err := regexp.Compile(pattern)
	if err != nil || pattern == "" {
		fmt.Fprintln(i.err, "pgrep: no matching criteria specified")
		return 2, nil //nolint:nilerr // the command fails, the lab does not
	}
	d.mu.Lock()
	processes := slices.Clone(d.processes)
	d.mu.Unlock()
	status := 1
	for n, process := range processes {
		if !expression.MatchString(process) {
			continue
		}
		status = 0
		if long {
			fmt.Fprintf(i.out, "%d %s\n", firstPID+n, process)
		} else {
			fmt.Fprintln(i.out, firstPID+n)
		}
	}
	return status, nil
}

// firstPID is the number of the first process that the lab shows.
const firstPID = 4711

// dbCLI is sonic-db-cli: Redis without any validation, and at once.
func (d *Device) dbCLI(i invocation, args []string) (int, error) {
	if len(args) < 2 {
		fmt.Fprintln(i.err, "usage: sonic-db-cli <db_name> <cmd with arguments>")
		return 1, nil
	}
	database, command, args := args[0], strings.ToUpper(args[1]), args[2:]
	if command == "PING" {
		fmt.Fprintln(i.out, "PONG")
		return 0, nil
	}
	if database != "CONFIG_DB" {
		fmt.Fprintf(i.err, "Invalid database name input : '%s'\n", database)
		return 1, nil
	}
	if slices.Contains([]string{"HSET", "HDEL", "DEL", "HINCRBY"}, command) && !i.root {
		fmt.Fprintln(i.err, "Could not connect to Redis at /var/run/redis/redis.sock: Permission denied")
		return 1, nil
	}
	reply, ok := d.redis(command, args)
	if !ok {
		fmt.Fprintf(i.out, "(error) ERR wrong number of arguments for '%s' command\n", strings.ToLower(command))
		return 1, nil
	}
	if reply != "" {
		fmt.Fprintln(i.out, reply)
	}
	return 0, nil
}

// redis runs one command of Redis on CONFIG_DB.
func (d *Device) redis(command string, args []string) (reply string, ok bool) {
	if len(args) == 0 {
		return "", false
	}
	table, key, _ := strings.Cut(args[0], "|")
	db := d.told()
	row, exists := db[table][key]
	switch {
	case command == "KEYS" && len(args) == 1:
		return strings.Join(db.keys(args[0]), "\n"), true
	case command == "EXISTS" && len(args) == 1:
		return strconv.Itoa(count(exists)), true
	case command == "HGET" && len(args) == 2:
		return row[args[1]], true
	case command == "HGETALL" && len(args) == 1:
		return python(row), true
	case command == "DEL" && len(args) == 1:
		d.commit(func(db database) { db.remove(table, key) })
		return strconv.Itoa(count(exists)), true
	case command == "HDEL" && len(args) >= 2:
		removed := 0
		d.commit(func(db database) {
			for _, field := range args[1:] {
				if _, has := db[table][key][field]; has {
					removed++
					delete(db[table][key], field)
				}
			}
			if exists && len(db[table][key]) == 0 {
				db.remove(table, key)
			}
		})
		return strconv.Itoa(removed), true
	case command == "HINCRBY" && len(args) == 3:
		n := number(row[args[1]]) + number(args[2])
		d.amend(func(db database) { db[table][key][args[1]] = strconv.FormatInt(n, 10) }, exists)
		return strconv.FormatInt(n, 10), true
	case command == "HSET" && len(args) >= 3 && len(args)%2 == 1:
		added := 0
		d.commit(func(db database) {
			if !exists {
				db.put(table, key, map[string]string{})
			}
			for n := 1; n < len(args); n += 2 {
				if _, has := db[table][key][args[n]]; !has {
					added++
				}
				db[table][key][args[n]] = args[n+1]
			}
		})
		return strconv.Itoa(added), true
	}
	return "", false
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// keys are those of CONFIG_DB that a pattern with * matches, in order.
func (db database) keys(pattern string) []string {
	expression, err := regexp.Compile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
	if err != nil {
		return nil
	}
	var found []string
	for table, rows := range db {
		for key := range rows {
			if name := table + "|" + key; expression.MatchString(name) {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	return found
}

// python writes a row as sonic-db-cli does, as a dictionary of Python.
func python(row map[string]string) string {
	var words []string
	for field, value := range row {
		words = append(words, fmt.Sprintf("'%s': '%s'", field, value))
	}
	slices.Sort(words)
	return "{" + strings.Join(words, ", ") + "}"
}
