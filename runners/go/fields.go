package main

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// fields are those of a command. Each is taken out; what is left is what the driver has no word for.
type fields struct {
	left bson.D
}

func (fields *fields) take(name string) (any, bool) {
	for at, each := range fields.left {
		if each.Key == name {
			fields.left = append(fields.left[:at:at], fields.left[at+1:]...)
			return each.Value, true
		}
	}
	return nil, false
}

func (fields *fields) flag(name string, otherwise bool) bool {
	if value, is := fields.take(name); is {
		flag, _ := value.(bool)
		return flag
	}
	return otherwise
}

func (fields *fields) document(name string) bson.D {
	value, _ := fields.take(name)
	document, _ := value.(bson.D)
	return document
}

func (fields *fields) list(name string) bson.A {
	value, _ := fields.take(name)
	list, _ := value.(bson.A)
	return list
}

func (fields *fields) text(name string) string {
	value, _ := fields.take(name)
	text, _ := value.(string)
	return text
}

func (fields *fields) number(name string) (int64, bool) {
	value, is := fields.take(name)
	if !is {
		return 0, false
	}
	return whole(value), true
}

func whole(value any) int64 {
	switch number := value.(type) {
	case int32:
		return int64(number)
	case int64:
		return number
	case float64:
		return int64(number)
	}
	return 0
}

// end refuses what was not taken.
func (fields *fields) end() error {
	if len(fields.left) == 0 {
		return nil
	}
	names := make([]string, 0, len(fields.left))
	for _, each := range fields.left {
		names = append(names, each.Key)
	}
	return fmt.Errorf("the driver has no word for %s", strings.Join(names, ", "))
}

func (fields *fields) collation() *options.Collation {
	said := fields.document("collation")
	if said == nil {
		return nil
	}
	var collation options.Collation
	for _, each := range said {
		text, _ := each.Value.(string)
		flag, _ := each.Value.(bool)
		switch each.Key {
		case "locale":
			collation.Locale = text
		case "caseLevel":
			collation.CaseLevel = flag
		case "caseFirst":
			collation.CaseFirst = text
		case "strength":
			collation.Strength = int(whole(each.Value))
		case "numericOrdering":
			collation.NumericOrdering = flag
		case "alternate":
			collation.Alternate = text
		case "maxVariable":
			collation.MaxVariable = text
		case "normalization":
			collation.Normalization = flag
		case "backwards":
			collation.Backwards = flag
		}
	}
	return &collation
}

// replaces says whether an update is a whole document.
func replaces(update any) bool {
	whole, is := update.(bson.D)
	return is && (len(whole) == 0 || !strings.HasPrefix(whole[0].Key, "$"))
}
