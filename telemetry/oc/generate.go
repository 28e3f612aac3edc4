//go:build ignore

// Generate writes oc.go from the YANG modules in $WEIR_YANG/openconfig, with ygot's own generator. The generator writes the
// places of its inputs into the file; they are cut to what does not depend on the machine. It also unzips the schema when a
// program starts, which takes longer than most commands; that is put off until the schema is first needed.
package main

import (
	"bytes"
	"go/format"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

const (
	output    = "oc.go"
	generator = "github.com/openconfig/ygot/generator"
)

// modules are what telemetry reads; what they import is found beside them.
var modules = []string{"openconfig-qos.yang", "openconfig-interfaces.yang", "openconfig-if-ethernet.yang"}

// source is what the generator calls itself: a file in the module cache.
var source = regexp.MustCompile(`\S+/genutil/names\.go`)

// eager is where the schema is kept and unzipped at the start. schemaTree takes its place.
var eager = []string{
	"\tSchemaTree map[string]*yang.Entry\n",
	"\tvar err error\n",
	"\tif SchemaTree, err = UnzipSchema(); err != nil {\n\t\tpanic(\"schema error: \" + err.Error())\n\t}\n",
}

// kept is a use of the schema.
var kept = regexp.MustCompile(`\bSchemaTree\[`)

func main() {
	log.SetFlags(0)
	yang := os.Getenv("WEIR_YANG")
	if yang == "" {
		log.Fatal("set WEIR_YANG to the folder of the YANG modules")
	}
	folder := filepath.Join(yang, "openconfig")
	args := []string{"run", generator, "-path=" + folder, "-output_file=" + output, "-package_name=oc",
		"-generate_fakeroot", "-fakeroot_name=device", "-include_schema",
		// State leaves are the fields; the configuration leaves of the same name are left out.
		"-compress_paths", "-prefer_operational_state", "-ignore_shadow_schema_paths",
		// What these bring in is large and holds no counter that weir reads.
		"-exclude_modules=ietf-interfaces,openconfig-platform,openconfig-defined-sets",
		"-shorten_enum_leaf_names", "-typedef_enum_with_defmod", "-enum_suffix_for_simple_union_enums", "-generate_simple_unions"}
	for _, m := range modules {
		args = append(args, filepath.Join(folder, m))
	}
	cmd := exec.Command("go", args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		log.Fatalf("generate from %s: %v", folder, err)
	}
	body, err := os.ReadFile(output)
	if err != nil {
		log.Fatal(err)
	}
	body = bytes.ReplaceAll(body, []byte(yang+"/"), nil)
	body = source.ReplaceAll(body, []byte(generator))
	if body, err = format.Source(body); err != nil {
		log.Fatal(err)
	}
	for _, text := range eager {
		if !bytes.Contains(body, []byte(text)) {
			log.Fatalf("the generator does not write %q any more", text)
		}
		body = bytes.Replace(body, []byte(text), nil, 1)
	}
	body = kept.ReplaceAll(body, []byte("schemaTree()["))
	if err := os.WriteFile(output, body, 0o644); err != nil {
		log.Fatal(err)
	}
}
