// SPDX-License-Identifier: Apache-2.0

// gen-kinds writes src/kube/model/builtin_tables.c: the structure of Kubernetes' built-in kinds as compact
// constant tables. It walks the types of the published API modules by reflection (JSON names, protobuf
// numbers, patch strategies) and reads the markers in their sources (+optional, +listType, +default,
// +enum), so the tables hold facts only.
//
//	cd tools/gen-kinds && go run . > ../../src/kube/model/builtin_tables.c
//
// The module versions in go.mod decide which Kubernetes release the tables describe.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"sort"
	"strconv"
	"strings"

	admission "k8s.io/api/admission/v1"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Only stable versions: what alpha and beta versions hold changes too often to be a table.
var stableVersion = regexp.MustCompile(`^v[0-9]+$`)

// Types of metav1 that every group version registers; they are listed once, under meta.k8s.io.
var metaKinds = []any{
	metav1.Status{}, metav1.DeleteOptions{}, metav1.CreateOptions{}, metav1.UpdateOptions{}, metav1.PatchOptions{},
	metav1.GetOptions{}, metav1.ListOptions{}, metav1.WatchEvent{}, metav1.Table{}, metav1.TableOptions{},
	metav1.PartialObjectMetadata{}, metav1.PartialObjectMetadataList{}, metav1.APIGroup{}, metav1.APIGroupList{},
	metav1.APIResourceList{}, metav1.APIVersions{}, metav1.LabelSelector{},
}

// Types with their own JSON form: path.Name -> schema type in C.
var special = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                     "SCHEMA_TIME",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                "SCHEMA_MICRO_TIME",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                 "SCHEMA_DURATION",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                 "SCHEMA_FIELDS",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                 "SCHEMA_QUANTITY",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":               "SCHEMA_INT_OR_STRING",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                  "SCHEMA_RAW",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON": "SCHEMA_ANY",
}

// Unions of a JSONSchemaProps and something else, and which message they are in protobuf.
var unions = map[string]string{
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "SCHEMA_OR_ARRAY",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "SCHEMA_OR_BOOL",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "SCHEMA_OR_STRINGS",
}

type node struct {
	kind, listType string
	flags          []string
	ref            int // type of an object, node of items; -1 none
	keys           []string
	patchKey       string
	def            string
	enum           []string
}

func (n node) id() string { return fmt.Sprintf("%+v", n) }

type field struct {
	name               string
	node, proto, outer int
	flags              []string
}

type typ struct {
	name, goName string
	atomic       bool
	fields       []field
}

type gen struct {
	types     []typ
	typeIndex map[reflect.Type]int
	nodes     []node
	nodeIndex map[string]int
	docs      map[string]map[string]*ast.TypeSpec
	typeDocs  map[string]string
	enums     map[string][]string
	fset      *token.FileSet
	loaded    map[string]bool
}

// load reads the sources of one package for their markers.
func (g *gen) load(path string) {
	if g.loaded[path] {
		return
	}
	g.loaded[path] = true
	pkg, err := build.Import(path, ".", build.FindOnly)
	check(err)
	pkgs, err := parser.ParseDir(g.fset, pkg.Dir, func(i os.FileInfo) bool { return !strings.HasSuffix(i.Name(), "_test.go") }, parser.ParseComments)
	check(err)
	g.docs[path] = map[string]*ast.TypeSpec{}
	for _, p := range pkgs {
		names := make([]string, 0, len(p.Files))
		for name := range p.Files {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			for _, d := range p.Files[name].Decls {
				gd, ok := d.(*ast.GenDecl)
				if !ok {
					continue
				}
				for _, s := range gd.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						g.docs[path][s.Name.Name] = s
						doc := s.Doc.Text()
						if gd.Doc != nil {
							doc += raw(gd.Doc)
						}
						if s.Doc != nil {
							doc += raw(s.Doc)
						}
						g.typeDocs[path+"."+s.Name.Name] = doc
					case *ast.ValueSpec:
						if id, ok := s.Type.(*ast.Ident); ok && gd.Tok == token.CONST {
							for _, v := range s.Values {
								if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
									text, err := strconv.Unquote(lit.Value)
									check(err)
									g.enums[path+"."+id.Name] = append(g.enums[path+"."+id.Name], text)
								}
							}
						}
					}
				}
			}
		}
	}
}

func raw(c *ast.CommentGroup) string {
	var b strings.Builder
	for _, l := range c.List {
		b.WriteString(strings.TrimPrefix(l.Text, "//"))
		b.WriteByte('\n')
	}
	return b.String()
}

// markers of a comment: "+listType=map" -> listType: [map].
func markers(doc string) map[string][]string {
	m := map[string][]string{}
	for _, l := range strings.Split(doc, "\n") {
		l = strings.TrimSpace(l)
		if !strings.HasPrefix(l, "+") {
			continue
		}
		k, v, _ := strings.Cut(l[1:], "=")
		m[k] = append(m[k], v)
	}
	return m
}

func (g *gen) typeMarkers(t reflect.Type) map[string][]string {
	if t.PkgPath() == "" || !strings.Contains(t.PkgPath(), ".") {
		return nil
	}
	g.load(t.PkgPath())
	return markers(g.typeDocs[t.PkgPath()+"."+t.Name()])
}

func (g *gen) fieldMarkers(t reflect.Type, name string) map[string][]string {
	g.load(t.PkgPath())
	spec := g.docs[t.PkgPath()][t.Name()]
	if spec == nil {
		return nil
	}
	st, ok := spec.Type.(*ast.StructType)
	if !ok { // type A B: the markers are at B
		return nil
	}
	for _, f := range st.Fields.List {
		for _, n := range f.Names {
			if n.Name == name && f.Doc != nil {
				return markers(raw(f.Doc))
			}
		}
	}
	return nil
}

func qualified(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }

// openAPIName: k8s.io/api/core/v1.Pod -> io.k8s.api.core.v1.Pod
func openAPIName(t reflect.Type) string {
	path, rest, _ := strings.Cut(t.PkgPath(), "/")
	parts := strings.Split(path, ".")
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, ".") + "." + strings.ReplaceAll(rest, "/", ".") + "." + t.Name()
}

func (g *gen) addNode(n node) int {
	id := n.id()
	if i, ok := g.nodeIndex[id]; ok {
		return i
	}
	g.nodes = append(g.nodes, n)
	g.nodeIndex[id] = len(g.nodes) - 1
	return len(g.nodes) - 1
}

// describe gives the node of a type, without what the place of use adds.
func (g *gen) describe(t reflect.Type) node {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	n := node{ref: -1}
	if s, ok := special[qualified(t)]; ok {
		n.kind = s
		return n
	}
	if flag, ok := unions[qualified(t)]; ok {
		n.kind, n.flags = "SCHEMA_ANY", []string{flag}
		n.ref = g.addNode(node{kind: "SCHEMA_OBJECT", ref: g.addType(reflect.TypeOf(apiextensions.JSONSchemaProps{}))})
		return n
	}
	if qualified(t) == "k8s.io/apimachinery/pkg/apis/meta/v1.WatchEvent" {
		n.kind = "SCHEMA_RAW"
		return n
	}
	switch t.Kind() {
	case reflect.String:
		n.kind = "SCHEMA_STRING"
		if _, ok := g.typeMarkers(t)["enum"]; ok {
			n.enum = append([]string(nil), g.enums[qualified(t)]...)
			sort.Strings(n.enum)
		}
	case reflect.Bool:
		n.kind = "SCHEMA_BOOL"
	case reflect.Int32, reflect.Uint8, reflect.Uint32:
		n.kind = "SCHEMA_INT32"
	case reflect.Int64, reflect.Int, reflect.Uint16:
		n.kind = "SCHEMA_INT64"
	case reflect.Float64:
		n.kind = "SCHEMA_NUMBER"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			n.kind = "SCHEMA_BYTES"
			break
		}
		n.kind, n.ref = "SCHEMA_ARRAY", g.addNode(g.describe(t.Elem()))
	case reflect.Map:
		n.kind, n.ref = "SCHEMA_MAP", g.addNode(g.describe(t.Elem()))
	case reflect.Struct:
		n.kind, n.ref = "SCHEMA_OBJECT", g.addType(t)
		if contains(g.typeMarkers(t)["structType"], "atomic") {
			n.flags = append(n.flags, "SCHEMA_ATOMIC_MAP")
		}
	case reflect.Interface:
		n.kind = "SCHEMA_ANY"
	default:
		fail("no schema for %v (%v)", t, t.Kind())
	}
	return n
}

func contains(l []string, s string) bool {
	for _, v := range l {
		if v == s {
			return true
		}
	}
	return false
}

func (g *gen) addType(t reflect.Type) int {
	if i, ok := g.typeIndex[t]; ok {
		return i
	}
	i := len(g.types)
	g.typeIndex[t] = i
	pkg := t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:]
	g.types = append(g.types, typ{name: openAPIName(t), goName: pkg + "." + t.Name()})
	fields := g.fields(t, 0, false)
	g.types[i].fields = fields
	return i
}

func protoNumber(f reflect.StructField) int {
	tag := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(tag) < 2 {
		return 0
	}
	n, err := strconv.Atoi(tag[1])
	check(err)
	return n
}

func (g *gen) fields(t reflect.Type, outer int, noProto bool) []field {
	var out []field
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		number := protoNumber(f)
		if noProto {
			number = 0
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		if f.Anonymous && name == "" {
			et := f.Type
			for et.Kind() == reflect.Pointer {
				et = et.Elem()
			}
			// Embedded messages nest at most twice; the outermost stands in the low byte.
			if number > 255 || outer > 255 {
				fail("%v.%s: embedded too deep", t, f.Name)
			}
			inner := number
			if outer != 0 {
				inner = outer | number<<8
			}
			out = append(out, g.fields(et, inner, number == 0)...)
			continue
		}
		if name == "" {
			name = f.Name
		}
		m := g.fieldMarkers(t, f.Name)
		n := g.describe(f.Type)
		fd := field{name: name, proto: number, outer: outer}
		if _, message := f.Type.MethodByName("Marshal"); message && f.Type.Kind() == reflect.Slice && number != 0 {
			/* A named list type (Verbs) is a message of its own, whose field 1 is the list. */
			if outer != 0 || number > 255 {
				fail("%v.%s: protobuf number %d of an embedded list", t, name, number)
			}
			fd.proto, fd.outer = 1, number
		}
		optional := strings.Contains(","+opts+",", ",omitempty,") || strings.Contains(","+opts+",", ",omitzero,")
		_, marked := m["optional"]
		_, markedNew := m["k8s:optional"]
		_, required := m["required"]
		if required || !(optional || marked || markedNew) {
			fd.flags = append(fd.flags, "FIELD_IS_REQUIRED")
		}
		if strings.Contains(","+opts+",", ",omitempty,") {
			fd.flags = append(fd.flags, "FIELD_OMIT_EMPTY")
		}
		if strings.Contains(","+opts+",", ",omitzero,") {
			fd.flags = append(fd.flags, "FIELD_OMIT_ZERO")
		}
		if f.Type.Kind() == reflect.Pointer {
			fd.flags = append(fd.flags, "FIELD_POINTER")
		}
		if _, ok := m["nullable"]; ok {
			n.flags = append(n.flags, "SCHEMA_NULLABLE")
		}
		list := m["listType"]
		list = append(list, m["k8s:listType"]...)
		switch {
		case contains(list, "map"):
			n.listType = "SCHEMA_LIST_MAP"
			n.keys = append(n.keys, m["listMapKey"]...)
			if len(n.keys) == 0 {
				n.keys = append(n.keys, m["k8s:listMapKey"]...)
			}
		case contains(list, "set"):
			n.listType = "SCHEMA_LIST_SET"
		case contains(list, "atomic"):
			n.flags = append(n.flags, "SCHEMA_ATOMIC_LIST")
		}
		if contains(m["mapType"], "atomic") || contains(m["structType"], "atomic") {
			n.flags = append(n.flags, "SCHEMA_ATOMIC_MAP")
		}
		if contains(m["mapType"], "granular") || contains(m["structType"], "granular") {
			/* The field takes back what its type says. */
			n.flags = slices.DeleteFunc(n.flags, func(f string) bool { return f == "SCHEMA_ATOMIC_MAP" })
		}
		for _, s := range strings.Split(f.Tag.Get("patchStrategy"), ",") {
			switch s {
			case "merge":
				n.flags = append(n.flags, "SCHEMA_PATCH_MERGE")
			case "retainKeys":
				n.flags = append(n.flags, "SCHEMA_PATCH_RETAIN_KEYS")
			case "replace":
				n.flags = append(n.flags, "SCHEMA_PATCH_REPLACE")
			}
		}
		n.patchKey = f.Tag.Get("patchMergeKey")
		if d := m["default"]; len(d) == 1 {
			if strings.HasPrefix(d[0], "ref(") {
				name := strings.TrimSuffix(strings.TrimPrefix(d[0], "ref("), ")")
				name = name[strings.LastIndex(name, ".")+1:]
				n.def = g.constant(t.PkgPath(), name)
			} else if json.Valid([]byte(d[0])) {
				n.def = d[0]
			} else {
				fail("%v.%s: default %s", t, f.Name, d[0])
			}
		}
		sort.Strings(n.flags)
		fd.node = g.addNode(n)
		out = append(out, fd)
	}
	return out
}

// constant finds the JSON of a string constant that a +default=ref() names.
func (g *gen) constant(path, name string) string {
	for file := range g.sources(path) {
		for _, d := range g.sources(path)[file].Decls {
			gd, ok := d.(*ast.GenDecl)
			if !ok || gd.Tok != token.CONST {
				continue
			}
			for _, s := range gd.Specs {
				vs := s.(*ast.ValueSpec)
				for i, id := range vs.Names {
					if id.Name == name && i < len(vs.Values) {
						if lit, ok := vs.Values[i].(*ast.BasicLit); ok {
							return lit.Value
						}
					}
				}
			}
		}
	}
	fail("constant %s.%s not found", path, name)
	return ""
}

func (g *gen) sources(path string) map[string]*ast.File {
	pkg, err := build.Import(path, ".", build.FindOnly)
	check(err)
	pkgs, err := parser.ParseDir(g.fset, pkg.Dir, nil, 0)
	check(err)
	out := map[string]*ast.File{}
	for _, p := range pkgs {
		for n, f := range p.Files {
			out[n] = f
		}
	}
	return out
}

func check(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "gen-kinds: "+format+"\n", args...)
	os.Exit(1)
}

// protoPath is where a field lies in its type's message: the numbers of the embedded messages, then its own.
func (f field) protoPath() []int {
	var path []int
	for outer := f.outer; outer != 0; outer >>= 8 {
		path = append(path, outer&0xff)
	}
	return append(path, f.proto)
}

// protoOrder lists a type's fields as they follow each other on the wire.
func (t typ) protoOrder() []int {
	var order []int
	for i, f := range t.fields {
		if f.proto != 0 {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(i, j int) bool {
		return slices.Compare(t.fields[order[i]].protoPath(), t.fields[order[j]].protoPath()) < 0
	})
	return order
}

// pool lays strings out one after another and hands out their offsets; offset 0 is "".
type pool struct {
	text  []string
	at    map[string]int
	bytes int
}

func (p *pool) add(s string) int {
	if i, ok := p.at[s]; ok {
		return i
	}
	p.at[s] = p.bytes
	p.text = append(p.text, s)
	p.bytes += len(s) + 1
	return p.at[s]
}

func or(flags []string) string {
	if len(flags) == 0 {
		return "0"
	}
	return strings.Join(flags, " | ")
}

func main() {
	g := &gen{typeIndex: map[reflect.Type]int{}, nodeIndex: map[string]int{}, docs: map[string]map[string]*ast.TypeSpec{},
		typeDocs: map[string]string{}, enums: map[string][]string{}, fset: token.NewFileSet(), loaded: map[string]bool{}}
	s := runtime.NewScheme()
	check(clientscheme.AddToScheme(s))
	check(apiextensions.AddToScheme(s))
	check(apiregistration.AddToScheme(s))
	check(admission.AddToScheme(s))
	check(apidiscovery.AddToScheme(s))

	type kind struct {
		gvk schema.GroupVersionKind
		typ int
	}
	known := s.AllKnownTypes()
	var gvks []schema.GroupVersionKind
	for gvk, t := range known {
		own := !strings.HasSuffix(t.PkgPath(), "apis/meta/v1") && !strings.HasSuffix(t.PkgPath(), "pkg/runtime")
		if own && stableVersion.MatchString(gvk.Version) {
			gvks = append(gvks, gvk)
		}
	}
	sort.Slice(gvks, func(i, j int) bool { return gvks[i].String() < gvks[j].String() })
	var kinds []kind
	for _, gvk := range gvks {
		kinds = append(kinds, kind{gvk, g.addType(known[gvk])})
	}
	for _, v := range metaKinds {
		t := reflect.TypeOf(v)
		kinds = append(kinds, kind{schema.GroupVersionKind{Group: "meta.k8s.io", Version: "v1", Kind: t.Name()}, g.addType(t)})
	}

	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	strs := &pool{at: map[string]int{}}
	strs.add("")
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "k8s.io/api" {
				version = d.Version
			}
		}
	}
	fmt.Fprintf(w, "/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by tools/gen-kinds from k8s.io/api %s. Do not edit. */\n", version)
	fmt.Fprintf(w, "/* clang-format off */\n#include \"kube/model/builtin_tables.h\"\n\nconst char builtin_api_version[] = %q;\n\n", version)

	fmt.Fprintf(w, "const struct builtin_field_row builtin_fields[] = {\n")
	first := make([]int, len(g.types))
	n := 0
	for i, t := range g.types {
		first[i] = n
		fmt.Fprintf(w, "    /* %s */\n", t.goName)
		for _, f := range t.fields {
			fmt.Fprintf(w, "    { %d, %d, %d, %d, %s }, /* %s */\n", strs.add(f.name), f.node, f.proto, f.outer, or(f.flags), f.name)
			n++
		}
	}
	fmt.Fprintf(w, "};\n\nconst struct builtin_type_row builtin_types[] = {\n")
	for i, t := range g.types {
		fmt.Fprintf(w, "    { %d, %d, %d, %d },\n", strs.add(t.name), strs.add(t.goName), first[i], len(t.fields))
	}
	fmt.Fprintf(w, "};\nconst uint16_t builtin_n_types = %d;\n\n", len(g.types))

	fmt.Fprintf(w, "/* Of each type the numbers of its fields in the order of protobuf, filled up with 255. */\n")
	fmt.Fprintf(w, "const uint8_t builtin_proto_order[] = {\n")
	for _, t := range g.types {
		order := t.protoOrder()
		if len(t.fields) == 0 {
			continue
		}
		if len(t.fields) >= 255 {
			fail("%s has %d fields", t.name, len(t.fields))
		}
		fmt.Fprintf(w, "   ")
		for i := range t.fields {
			n := 255
			if i < len(order) {
				n = order[i]
			}
			fmt.Fprintf(w, " %d,", n)
		}
		fmt.Fprintf(w, "\n")
	}
	fmt.Fprintf(w, "};\n\n")

	fmt.Fprintf(w, "/* Lists of strings: a count, then offsets. */\nconst uint32_t builtin_lists[] = {\n    0,\n")
	lists, nlists := map[string]int{"": 0}, 1
	list := func(l []string) int {
		id := strings.Join(l, "\x00")
		if i, ok := lists[id]; ok {
			return i
		}
		lists[id] = nlists
		fmt.Fprintf(w, "    %d,", len(l))
		for _, s := range l {
			fmt.Fprintf(w, " %d,", strs.add(s))
		}
		fmt.Fprintf(w, "\n")
		nlists += 1 + len(l)
		return lists[id]
	}
	type lists2 struct{ keys, enum int }
	refs := make([]lists2, len(g.nodes))
	for i, nd := range g.nodes {
		refs[i] = lists2{list(nd.keys), list(nd.enum)}
	}
	fmt.Fprintf(w, "};\n\nconst struct builtin_node_row builtin_nodes[] = {\n")
	for i, nd := range g.nodes {
		lt := nd.listType
		if lt == "" {
			lt = "0"
		}
		fmt.Fprintf(w, "    { %s, %s, %s, %d, %d, %d, %d, %d },\n", nd.kind, lt, or(nd.flags), nd.ref+1, refs[i].keys, refs[i].enum, strs.add(nd.patchKey), strs.add(nd.def))
	}
	fmt.Fprintf(w, "};\nconst uint16_t builtin_n_nodes = %d;\n\n", len(g.nodes))

	fmt.Fprintf(w, "const struct builtin_kind_row builtin_kinds[] = {\n")
	for _, k := range kinds {
		fmt.Fprintf(w, "    { %d, %d, %d, %d }, /* %s/%s %s */\n", strs.add(k.gvk.Group), strs.add(k.gvk.Version), strs.add(k.gvk.Kind), k.typ, k.gvk.Group, k.gvk.Version, k.gvk.Kind)
	}
	fmt.Fprintf(w, "};\nconst uint16_t builtin_n_kinds = %d;\n\n", len(kinds))

	fmt.Fprintf(w, "const char builtin_strings[] =\n")
	for _, s := range strs.text {
		fmt.Fprintf(w, "    %s \"\\0\"\n", cString(s))
	}
	fmt.Fprintf(w, "    ;\n")
}

func cString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
