// SPDX-License-Identifier: Apache-2.0

// gen-kinds writes src/kube/model/types/: the structure of Kubernetes' built-in kinds as text, a file for each API
// group, which tools/pack-types.c makes into tables when dormouse is built. It walks the types of the published API
// modules by reflection (JSON names, protobuf numbers, patch strategies) and reads the markers in their sources
// (+optional, +listType, +default, +enum), so the texts hold facts only. tools/pack-types.c explains their form.
//
//	cd tools/gen-kinds && go run . ../../src/kube/model/types
//
// The module versions in go.mod decide which Kubernetes release the texts describe.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
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
	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// Only stable versions: what alpha and beta versions hold changes too often to be a table.
// metrics.k8s.io has no other version than its beta.
var stableVersion = regexp.MustCompile(`^v[0-9]+$`)

// Types of metav1 that every group version registers; they are listed once, under meta.k8s.io.
var metaKinds = []any{
	metav1.Status{}, metav1.DeleteOptions{}, metav1.CreateOptions{}, metav1.UpdateOptions{}, metav1.PatchOptions{},
	metav1.GetOptions{}, metav1.ListOptions{}, metav1.WatchEvent{}, metav1.Table{}, metav1.TableOptions{},
	metav1.PartialObjectMetadata{}, metav1.PartialObjectMetadataList{}, metav1.APIGroup{}, metav1.APIGroupList{},
	metav1.APIResourceList{}, metav1.APIVersions{}, metav1.LabelSelector{},
}

// Types with their own JSON form: path.Name -> their name in the texts.
var special = map[string]string{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":                     "Time",
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":                "MicroTime",
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":                 "Duration",
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":                 "FieldsV1",
	"k8s.io/apimachinery/pkg/api/resource.Quantity":                 "Quantity",
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString":               "IntOrString",
	"k8s.io/apimachinery/pkg/runtime.RawExtension":                  "RawExtension",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON": "any",
}

// Unions of a JSONSchemaProps and something else, which stands behind the "|"; "[]" is an array of them.
var unions = map[string]string{
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrArray":       "[]",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrBool":        "bool",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSONSchemaPropsOrStringArray": "[]string",
}

// field is one line of a type.
type field struct {
	name, text string // text: type, number and attributes
}

type typ struct {
	path, name string
	atomic     bool
	fields     []field
}

type gen struct {
	types     []*typ
	typeIndex map[reflect.Type]*typ
	docs      map[string]map[string]*ast.TypeSpec
	typeDocs  map[string]string
	enums     map[string][]string
	used      map[string]bool // names of enums that fields have
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

// openAPIPackage: k8s.io/api/core/v1 -> io.k8s.api.core.v1
func openAPIPackage(path string) string {
	host, rest, _ := strings.Cut(path, "/")
	parts := strings.Split(host, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".") + "." + strings.ReplaceAll(rest, "/", ".")
}

// alias: k8s.io/api/core/v1 -> corev1
func alias(path string) string {
	parts := strings.Split(path, "/")
	return parts[len(parts)-2] + parts[len(parts)-1]
}

// refer names a type in the file of another, which may be of another package.
func (g *gen) refer(t reflect.Type, from *typ) string {
	if t.PkgPath() == from.path {
		return t.Name()
	}
	return alias(t.PkgPath()) + "." + t.Name()
}

// describe gives the text of a type, and whether it is a struct that is atomic wherever it stands.
func (g *gen) describe(t reflect.Type, from *typ) (string, bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s, ok := special[qualified(t)]; ok {
		return s, false
	}
	if other, ok := unions[qualified(t)]; ok {
		props := reflect.TypeOf(apiextensions.JSONSchemaProps{})
		g.addType(props)
		return g.refer(props, from) + "|" + other, false
	}
	switch t.Kind() {
	case reflect.String:
		if _, ok := g.typeMarkers(t)["enum"]; ok && len(g.enums[qualified(t)]) > 0 {
			g.used[qualified(t)] = true
			return g.refer(t, from), false
		}
		return "string", false
	case reflect.Bool:
		return "bool", false
	case reflect.Int32, reflect.Uint8, reflect.Uint32:
		return "int32", false
	case reflect.Int64, reflect.Int, reflect.Uint16:
		return "int64", false
	case reflect.Float64:
		return "float64", false
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "[]byte", false
		}
		text, _ := g.describe(t.Elem(), from)
		return "[]" + text, false
	case reflect.Map:
		text, _ := g.describe(t.Elem(), from)
		return "map[string]" + text, false
	case reflect.Struct:
		return g.refer(t, from), g.addType(t).atomic
	case reflect.Interface:
		return "any", false
	}
	fail("no type for %v (%v)", t, t.Kind())
	return "", false
}

func contains(l []string, s string) bool {
	for _, v := range l {
		if v == s {
			return true
		}
	}
	return false
}

func (g *gen) addType(t reflect.Type) *typ {
	if d, ok := g.typeIndex[t]; ok {
		return d
	}
	d := &typ{path: t.PkgPath(), name: t.Name(), atomic: contains(g.typeMarkers(t)["structType"], "atomic")}
	g.typeIndex[t] = d
	g.types = append(g.types, d)
	d.fields = g.fields(t, d, nil, false)
	return d
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

// number writes where a field lies in its type's message: the numbers of the embedded messages, then its own.
func number(path []int) string {
	if !slices.ContainsFunc(path, func(n int) bool { return n != 0 }) {
		return ""
	}
	text := " ="
	for i, n := range path {
		if i > 0 {
			text += "."
		}
		text += strconv.Itoa(n)
	}
	return text
}

// fields of t, which is d or embedded in it; outer are the numbers of the messages that it is embedded in.
func (g *gen) fields(t reflect.Type, d *typ, outer []int, noProto bool) []field {
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
			inner := outer
			if number != 0 {
				inner = append(slices.Clone(outer), number)
			}
			out = append(out, g.fields(et, d, inner, number == 0)...)
			continue
		}
		if name == "" {
			name = f.Name
		}
		out = append(out, field{name: name, text: g.fieldText(t, d, f, opts, append(slices.Clone(outer), number))})
	}
	return out
}

func (g *gen) fieldText(t reflect.Type, d *typ, f reflect.StructField, opts string, path []int) string {
	m := g.fieldMarkers(t, f.Name)
	text, atomic := g.describe(f.Type, d)
	if f.Type.Kind() == reflect.Pointer {
		text = "*" + text
	}
	if _, message := f.Type.MethodByName("Marshal"); message && f.Type.Kind() == reflect.Slice && path[len(path)-1] != 0 {
		path = append(path, 1) // a named list type (Verbs) is a message of its own, whose field 1 is the list
	}
	text += number(path)
	add := func(attribute string) { text += " " + attribute }
	omitempty := strings.Contains(","+opts+",", ",omitempty,")
	omitzero := strings.Contains(","+opts+",", ",omitzero,")
	_, marked := m["optional"]
	_, markedNew := m["k8s:optional"]
	_, required := m["required"]
	if required || !(omitempty || omitzero || marked || markedNew) {
		add("required")
	}
	if omitempty {
		add("omitempty")
	}
	if omitzero {
		add("omitzero")
	}
	if _, ok := m["nullable"]; ok {
		add("nullable")
	}
	list := append(m["listType"], m["k8s:listType"]...)
	switch {
	case contains(list, "map"):
		keys := m["listMapKey"]
		if len(keys) == 0 {
			keys = m["k8s:listMapKey"]
		}
		add("listType=map listMapKey=" + strings.Join(keys, ","))
	case contains(list, "set"):
		add("listType=set")
	case contains(list, "atomic"):
		add("listType=atomic")
	}
	granular := contains(m["mapType"], "granular") || contains(m["structType"], "granular")
	switch {
	case atomic && granular:
		add("granular") // the field takes back what its type says
	case !atomic && !granular && (contains(m["mapType"], "atomic") || contains(m["structType"], "atomic")):
		add("atomic")
	}
	if s := f.Tag.Get("patchStrategy"); s != "" {
		add("patchStrategy=" + s)
	}
	if k := f.Tag.Get("patchMergeKey"); k != "" {
		add("patchMergeKey=" + k)
	}
	if v := m["default"]; len(v) == 1 {
		add("default=" + g.defaultValue(t, f, v[0])) // last: it may have blanks
	}
	return text
}

// defaultValue gives the JSON of a +default marker.
func (g *gen) defaultValue(t reflect.Type, f reflect.StructField, marker string) string {
	if strings.HasPrefix(marker, "ref(") {
		name := strings.TrimSuffix(strings.TrimPrefix(marker, "ref("), ")")
		return g.constant(t.PkgPath(), name[strings.LastIndex(name, ".")+1:])
	}
	if !json.Valid([]byte(marker)) {
		fail("%v.%s: default %s", t, f.Name, marker)
	}
	return marker
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

// release is the version of k8s.io/api.
func release() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "k8s.io/api" {
				return d.Version
			}
		}
	}
	return "unknown"
}

// fileOf: k8s.io/api/core/v1 -> core.txt
func fileOf(path string) string {
	parts := strings.Split(path, "/")
	return parts[len(parts)-2] + ".txt"
}

// word quotes a value that is no plain word.
func word(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\"\\#") {
		return strconv.Quote(s)
	}
	return s
}

type kind struct {
	gvk schema.GroupVersionKind
	typ *typ
}

// writePackage writes what is of one package: its kinds, enums and types.
func (g *gen) writePackage(w *strings.Builder, path string, kinds []kind) {
	imports := map[string]string{}
	mention := func(text string) {
		for _, t := range g.types {
			if t.path != path && strings.Contains(text, alias(t.path)+".") {
				imports[alias(t.path)] = openAPIPackage(t.path)
			}
		}
	}
	var body strings.Builder
	for _, k := range kinds {
		if k.typ.path == path {
			fmt.Fprintf(&body, "kind %s %s", k.gvk.GroupVersion(), k.gvk.Kind)
			if k.gvk.Kind != k.typ.name {
				fmt.Fprintf(&body, " = %s", k.typ.name)
			}
			body.WriteString("\n")
		}
	}
	var enums []string
	for name := range g.used {
		if strings.HasPrefix(name, path+".") {
			enums = append(enums, name)
		}
	}
	sort.Strings(enums)
	for _, name := range enums {
		values := slices.Clone(g.enums[name])
		sort.Strings(values)
		fmt.Fprintf(&body, "\nenum %s", strings.TrimPrefix(name, path+"."))
		for _, v := range values {
			body.WriteString(" " + word(v))
		}
	}
	if len(enums) > 0 {
		body.WriteString("\n")
	}
	for _, t := range g.types {
		if t.path != path {
			continue
		}
		fmt.Fprintf(&body, "\ntype %s", t.name)
		if t.atomic {
			body.WriteString(" atomic")
		}
		body.WriteString("\n")
		wide := 0
		for _, f := range t.fields {
			wide = max(wide, len(f.name))
			mention(f.text)
		}
		for _, f := range t.fields {
			fmt.Fprintf(&body, "  %-*s  %s\n", wide, f.name, f.text)
		}
	}
	fmt.Fprintf(w, "\npackage %s\n", openAPIPackage(path))
	names := make([]string, 0, len(imports))
	for name := range imports {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(w, "import %s %s\n", name, imports[name])
	}
	w.WriteString(body.String())
}

func main() {
	if len(os.Args) != 2 {
		fail("usage: gen-kinds DIRECTORY")
	}
	g := &gen{typeIndex: map[reflect.Type]*typ{}, docs: map[string]map[string]*ast.TypeSpec{}, typeDocs: map[string]string{},
		enums: map[string][]string{}, used: map[string]bool{}, fset: token.NewFileSet(), loaded: map[string]bool{}}
	s := runtime.NewScheme()
	check(clientscheme.AddToScheme(s))
	check(apiextensions.AddToScheme(s))
	check(apiregistration.AddToScheme(s))
	check(admission.AddToScheme(s))
	check(apidiscovery.AddToScheme(s))
	check(metrics.AddToScheme(s))

	known := s.AllKnownTypes()
	var gvks []schema.GroupVersionKind
	for gvk, t := range known {
		own := !strings.HasSuffix(t.PkgPath(), "apis/meta/v1") && !strings.HasSuffix(t.PkgPath(), "pkg/runtime")
		if own && (stableVersion.MatchString(gvk.Version) || gvk.Group == metrics.GroupName) {
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

	files := map[string]*strings.Builder{}
	done := map[string]bool{}
	var paths []string
	for _, t := range g.types {
		if !done[t.path] {
			done[t.path] = true
			paths = append(paths, t.path)
		}
	}
	sort.Strings(paths)
	for _, path := range paths {
		w := files[fileOf(path)]
		if w == nil {
			w = &strings.Builder{}
			fmt.Fprintf(w, "# Written by tools/gen-kinds; tools/pack-types.c explains the form.\nrelease %s\n", release())
			files[fileOf(path)] = w
		}
		g.writePackage(w, path, kinds)
	}
	for name, w := range files {
		check(os.WriteFile(filepath.Join(os.Args[1], name), []byte(w.String()), 0o644))
	}
}
