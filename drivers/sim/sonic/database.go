package sonic

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// database is CONFIG_DB: table, key, field, value. A table without rows does not exist.
type database map[string]map[string]map[string]string

// parseDatabase reads the JSON form that config_db.json has. A list is kept as Redis keeps it: a field whose name ends in @.
func parseDatabase(text []byte) (database, error) {
	var tables map[string]map[string]map[string]any
	if err := json.Unmarshal(text, &tables); err != nil {
		return nil, fmt.Errorf("read CONFIG_DB: %w", err)
	}
	db := database{}
	for table, rows := range tables {
		for key, fields := range rows {
			row, err := parseRow(fields)
			if err != nil {
				return nil, fmt.Errorf("read CONFIG_DB: %s|%s: %w", table, key, err)
			}
			db.put(table, key, row)
		}
	}
	return db, nil
}

// parseRow reads the fields of one row: strings, and lists of strings.
func parseRow(fields map[string]any) (map[string]string, error) {
	row := map[string]string{}
	for name, value := range fields {
		switch v := value.(type) {
		case string:
			row[name] = v
		case []any:
			words := make([]string, len(v))
			for i, w := range v {
				words[i] = fmt.Sprint(w)
			}
			row[name+"@"] = strings.Join(words, ",")
		default:
			return nil, fmt.Errorf("field %s is neither a string nor a list", name)
		}
	}
	return row, nil
}

// put makes a row what is given.
func (db database) put(table, key string, row map[string]string) {
	if db[table] == nil {
		db[table] = map[string]map[string]string{}
	}
	db[table][key] = row
}

// remove deletes a row, and the table with its last one.
func (db database) remove(table, key string) {
	delete(db[table], key)
	if len(db[table]) == 0 {
		delete(db, table)
	}
}

func (db database) clone() database {
	c := make(database, len(db))
	for table, rows := range db {
		c[table] = make(map[string]map[string]string, len(rows))
		for key, row := range rows {
			c[table][key] = maps.Clone(row)
		}
	}
	return c
}

// at is the value at a path of zero to three elements, in JSON's types: nil where nothing is.
func (db database) at(path []string) any {
	switch len(path) {
	case 0:
		return db.tree()
	case 1:
		if rows, ok := db[path[0]]; ok {
			return tableTree(rows)
		}
	case 2:
		if row, ok := db[path[0]][path[1]]; ok {
			return rowTree(row)
		}
	case 3:
		row := db[path[0]][path[1]]
		if v, ok := row[path[2]]; ok {
			return v
		}
		if v, ok := row[path[2]+"@"]; ok {
			return strings.Split(v, ",")
		}
	}
	return nil
}

func (db database) tree() map[string]any {
	t := make(map[string]any, len(db))
	for table, rows := range db {
		t[table] = tableTree(rows)
	}
	return t
}

func tableTree(rows map[string]map[string]string) map[string]any {
	t := make(map[string]any, len(rows))
	for key, row := range rows {
		t[key] = rowTree(row)
	}
	return t
}

func rowTree(row map[string]string) map[string]any {
	t := make(map[string]any, len(row))
	for name, value := range row {
		if list, ok := strings.CutSuffix(name, "@"); ok {
			t[list] = strings.Split(value, ",")
		} else {
			t[name] = value
		}
	}
	return t
}

// print is the database as sonic-cfggen and config_db.json write it.
func (db database) print() []byte {
	text, err := json.MarshalIndent(db.tree(), "", "    ")
	if err != nil {
		panic(err) // strings and lists of strings always encode
	}
	return append(text, '\n')
}

// row is one row that differs between two databases.
type row struct{ table, key string }

// port is the port that the row is about: the first part of its key, where it is a port's.
func (r row) port() string {
	name, _, _ := strings.Cut(r.key, "|")
	return name
}

// differences are the rows that two databases do not have alike.
func differences(a, b database) []row {
	var rows []row
	for table, have := range a {
		for key, fields := range have {
			if other, ok := b[table][key]; !ok || !maps.Equal(fields, other) {
				rows = append(rows, row{table, key})
			}
		}
	}
	for table, have := range b {
		for key := range have {
			if _, ok := a[table][key]; !ok {
				rows = append(rows, row{table, key})
			}
		}
	}
	return rows
}
