package main

import (
	"context"
	"errors"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// call is what is done once a command is due. What the server refused in part is a done, not an error.
type call func(ctx context.Context) (done, error)

// callOf says how the driver is asked for a command.
func callOf(client *mongo.Client, command *command) (call, error) {
	body := command.body
	database := client.Database(body.text("$db"))
	switch command.name {
	case "find", "aggregate", "distinct", "insert", "update", "delete", "findAndModify":
	default:
		return func(ctx context.Context) (done, error) {
			var answer bson.D
			err := database.RunCommand(ctx, body.left).Decode(&answer)
			reply := bson.D{}
			for _, each := range answer {
				if !strings.HasPrefix(each.Key, "$") {
					reply = append(reply, each)
				}
			}
			return done{body: reply}, err
		}, nil
	}
	given := options.Collection()
	if !command.isInside {
		for _, each := range command.readConcern {
			if level, is := each.Value.(string); is && each.Key == "level" {
				given.SetReadConcern(&readconcern.ReadConcern{Level: level})
			}
		}
		if command.writeConcern != nil {
			given.SetWriteConcern(writeConcern(command.writeConcern))
		}
	}
	collection := database.Collection(body.text(command.name), given)
	switch command.name {
	case "find":
		return find(collection, command)
	case "aggregate":
		return aggregate(collection, command)
	case "distinct":
		return distinct(collection, body)
	case "insert":
		return insert(collection, body)
	case "update":
		return update(collection, body)
	case "delete":
		return remove(collection, body)
	}
	return findAndModify(collection, body)
}

func writeConcern(said bson.D) *writeconcern.WriteConcern {
	concern := &writeconcern.WriteConcern{}
	for _, each := range said {
		switch value := each.Value.(type) {
		case string, int32:
			if each.Key == "w" {
				if number, is := value.(int32); is {
					concern.W = int(number)
				} else {
					concern.W = value
				}
			}
		case bool:
			if each.Key == "j" {
				concern.Journal = &value
			}
		}
	}
	return concern
}

func ok(more ...bson.E) done {
	return done{body: append(bson.D{{Key: "ok", Value: int32(1)}}, more...)}
}

func n(count int64) bson.E {
	return bson.E{Key: "n", Value: count}
}

func found(documents []bson.D, wants bool) done {
	batch := bson.A{}
	if wants && len(documents) > 0 {
		batch = append(batch, documents[0])
	}
	cursor := bson.D{{Key: "id", Value: int64(0)}, {Key: "firstBatch", Value: batch}}
	made := ok(bson.E{Key: "cursor", Value: cursor})
	made.documents = len(documents)
	return made
}

func drain(ctx context.Context, cursor *mongo.Cursor, err error, wants bool) (done, error) {
	if err != nil {
		return done{}, err
	}
	var documents []bson.D
	if err := cursor.All(ctx, &documents); err != nil {
		return done{}, err
	}
	return found(documents, wants), nil
}

func find(collection *mongo.Collection, command *command) (call, error) {
	body := command.body
	filter := body.document("filter")
	if filter == nil {
		filter = bson.D{}
	}
	limit, isLimited := body.number("limit")
	skip, skips := body.number("skip")
	batchSize, hasBatchSize := body.number("batchSize")
	single := body.flag("singleBatch", false)
	projection, sort := body.document("projection"), body.document("sort")
	hint, hasHint := body.take("hint")
	collation, let := body.collation(), body.document("let")
	allow, says := body.take("allowDiskUse")
	if err := body.end(); err != nil {
		return nil, err
	}
	if isLimited && limit == 1 && let == nil && !says {
		given := options.FindOne().SetCollation(collation)
		if projection != nil {
			given.SetProjection(projection)
		}
		if sort != nil {
			given.SetSort(sort)
		}
		if skips {
			given.SetSkip(skip)
		}
		if hasHint {
			given.SetHint(hint)
		}
		return func(ctx context.Context) (done, error) {
			var document bson.D
			err := collection.FindOne(ctx, filter, given).Decode(&document)
			if errors.Is(err, mongo.ErrNoDocuments) {
				return found(nil, command.wants), nil
			}
			return found([]bson.D{document}, command.wants), err
		}, nil
	}
	given := options.Find().SetCollation(collation)
	if projection != nil {
		given.SetProjection(projection)
	}
	if sort != nil {
		given.SetSort(sort)
	}
	if skips {
		given.SetSkip(skip)
	}
	if hasHint {
		given.SetHint(hint)
	}
	if let != nil {
		given.SetLet(let)
	}
	if says {
		allowed, _ := allow.(bool)
		given.SetAllowDiskUse(allowed)
	}
	if hasBatchSize {
		given.SetBatchSize(int32(batchSize))
	}
	if single {
		if !isLimited || limit == 0 {
			limit = max(batchSize, 0)
			if limit == 0 {
				limit = 101
			}
		}
		limit = -limit
		isLimited = true
	}
	if isLimited {
		given.SetLimit(limit)
	}
	return func(ctx context.Context) (done, error) {
		cursor, err := collection.Find(ctx, filter, given)
		return drain(ctx, cursor, err, command.wants)
	}, nil
}

func aggregate(collection *mongo.Collection, command *command) (call, error) {
	body := command.body
	pipeline := body.list("pipeline")
	given := options.Aggregate().SetCollation(body.collation())
	cursor := &fields{left: body.document("cursor")}
	if size, is := cursor.number("batchSize"); is {
		given.SetBatchSize(int32(size))
	}
	if hint, is := body.take("hint"); is {
		given.SetHint(hint)
	}
	if let := body.document("let"); let != nil {
		given.SetLet(let)
	}
	if allow, is := body.take("allowDiskUse"); is {
		allowed, _ := allow.(bool)
		given.SetAllowDiskUse(allowed)
	}
	if bypass, is := body.take("bypassDocumentValidation"); is {
		flag, _ := bypass.(bool)
		given.SetBypassDocumentValidation(flag)
	}
	return func(ctx context.Context) (done, error) {
		cursor, err := collection.Aggregate(ctx, pipeline, given)
		return drain(ctx, cursor, err, command.wants)
	}, body.end()
}

func distinct(collection *mongo.Collection, body *fields) (call, error) {
	key, query := body.text("key"), body.document("query")
	if query == nil {
		query = bson.D{}
	}
	given := options.Distinct().SetCollation(body.collation())
	return func(ctx context.Context) (done, error) {
		var values bson.A
		if err := collection.Distinct(ctx, key, query, given).Decode(&values); err != nil {
			return done{}, err
		}
		return ok(bson.E{Key: "values", Value: values}), nil
	}, body.end()
}

func insert(collection *mongo.Collection, body *fields) (call, error) {
	documents, ordered := body.list("documents"), body.flag("ordered", true)
	bypass := body.flag("bypassDocumentValidation", false)
	if err := body.end(); err != nil {
		return nil, err
	}
	if len(documents) == 1 {
		given := options.InsertOne()
		if bypass {
			given.SetBypassDocumentValidation(true)
		}
		return func(ctx context.Context) (done, error) {
			_, err := collection.InsertOne(ctx, documents[0], given)
			return ok(n(1)), err
		}, nil
	}
	given := options.InsertMany().SetOrdered(ordered)
	if bypass {
		given.SetBypassDocumentValidation(true)
	}
	return func(ctx context.Context) (done, error) {
		result, err := collection.InsertMany(ctx, []any(documents), given)
		var failed mongo.BulkWriteException
		if errors.As(err, &failed) {
			// The driver's result names what it has inserted.
			made := doneOf(err)
			made.body[1].Value = int32(len(result.InsertedIDs))
			return made, nil
		}
		if err != nil {
			return done{}, err
		}
		return ok(n(int64(len(result.InsertedIDs)))), nil
	}, nil
}

func updated(result *mongo.UpdateResult, err error) (done, error) {
	if err != nil {
		return done{}, err
	}
	if result.UpsertedID == nil {
		return ok(n(result.MatchedCount), bson.E{Key: "nModified", Value: result.ModifiedCount}), nil
	}
	upsert := bson.D{{Key: "index", Value: int32(0)}, {Key: "_id", Value: result.UpsertedID}}
	return ok(n(1), bson.E{Key: "nModified", Value: int32(0)}, bson.E{Key: "upserted", Value: bson.A{upsert}}), nil
}

// statement is one of an update, and what it may say.
type statement struct {
	filter       bson.D
	update       any
	many, upsert bool
	filters      bson.A
	hint         any
	collation    *options.Collation
}

func readStatement(said any) (*statement, error) {
	document, _ := said.(bson.D)
	from := &fields{left: append(bson.D{}, document...)}
	made := &statement{filter: from.document("q")}
	made.update, _ = from.take("u")
	made.many, made.upsert = from.flag("multi", false), from.flag("upsert", false)
	made.filters = from.list("arrayFilters")
	made.hint, _ = from.take("hint")
	made.collation = from.collation()
	return made, from.end()
}

func update(collection *mongo.Collection, body *fields) (call, error) {
	statements, ordered := body.list("updates"), body.flag("ordered", true)
	let, bypass := body.document("let"), body.flag("bypassDocumentValidation", false)
	if err := body.end(); err != nil {
		return nil, err
	}
	if len(statements) != 1 {
		return bulk(collection, statements, ordered, bypass, let, updateModel)
	}
	said, err := readStatement(statements[0])
	if err != nil {
		return nil, err
	}
	if replaces(said.update) {
		given := options.Replace().SetUpsert(said.upsert).SetCollation(said.collation)
		if said.hint != nil {
			given.SetHint(said.hint)
		}
		if let != nil {
			given.SetLet(let)
		}
		if bypass {
			given.SetBypassDocumentValidation(true)
		}
		return func(ctx context.Context) (done, error) {
			return updated(collection.ReplaceOne(ctx, said.filter, said.update, given))
		}, nil
	}
	if said.many {
		given := options.UpdateMany().SetUpsert(said.upsert).SetCollation(said.collation)
		if said.filters != nil {
			given.SetArrayFilters(said.filters)
		}
		if said.hint != nil {
			given.SetHint(said.hint)
		}
		if let != nil {
			given.SetLet(let)
		}
		if bypass {
			given.SetBypassDocumentValidation(true)
		}
		return func(ctx context.Context) (done, error) {
			return updated(collection.UpdateMany(ctx, said.filter, said.update, given))
		}, nil
	}
	given := options.UpdateOne().SetUpsert(said.upsert).SetCollation(said.collation)
	if said.filters != nil {
		given.SetArrayFilters(said.filters)
	}
	if said.hint != nil {
		given.SetHint(said.hint)
	}
	if let != nil {
		given.SetLet(let)
	}
	if bypass {
		given.SetBypassDocumentValidation(true)
	}
	return func(ctx context.Context) (done, error) {
		return updated(collection.UpdateOne(ctx, said.filter, said.update, given))
	}, nil
}

func updateModel(each any) (mongo.WriteModel, error) {
	said, err := readStatement(each)
	if err != nil {
		return nil, err
	}
	if replaces(said.update) {
		return mongo.NewReplaceOneModel().SetFilter(said.filter).SetReplacement(said.update).
			SetUpsert(said.upsert).SetCollation(said.collation).SetHint(said.hint), nil
	}
	if said.many {
		return mongo.NewUpdateManyModel().SetFilter(said.filter).SetUpdate(said.update).SetUpsert(said.upsert).
			SetCollation(said.collation).SetArrayFilters(said.filters).SetHint(said.hint), nil
	}
	return mongo.NewUpdateOneModel().SetFilter(said.filter).SetUpdate(said.update).SetUpsert(said.upsert).
		SetCollation(said.collation).SetArrayFilters(said.filters).SetHint(said.hint), nil
}

func readDelete(each any) (*statement, error) {
	document, _ := each.(bson.D)
	from := &fields{left: append(bson.D{}, document...)}
	made := &statement{filter: from.document("q")}
	limit, _ := from.number("limit")
	made.many = limit == 0
	made.hint, _ = from.take("hint")
	made.collation = from.collation()
	return made, from.end()
}

func deleteModel(each any) (mongo.WriteModel, error) {
	said, err := readDelete(each)
	if err != nil {
		return nil, err
	}
	if said.many {
		return mongo.NewDeleteManyModel().SetFilter(said.filter).SetCollation(said.collation).SetHint(said.hint), nil
	}
	return mongo.NewDeleteOneModel().SetFilter(said.filter).SetCollation(said.collation).SetHint(said.hint), nil
}

func remove(collection *mongo.Collection, body *fields) (call, error) {
	statements, ordered := body.list("deletes"), body.flag("ordered", true)
	let := body.document("let")
	if err := body.end(); err != nil {
		return nil, err
	}
	if len(statements) != 1 {
		return bulk(collection, statements, ordered, false, let, deleteModel)
	}
	said, err := readDelete(statements[0])
	if err != nil {
		return nil, err
	}
	deleted := func(result *mongo.DeleteResult, err error) (done, error) {
		if err != nil {
			return done{}, err
		}
		return ok(n(result.DeletedCount)), nil
	}
	if said.many {
		given := options.DeleteMany().SetCollation(said.collation)
		if said.hint != nil {
			given.SetHint(said.hint)
		}
		if let != nil {
			given.SetLet(let)
		}
		return func(ctx context.Context) (done, error) {
			return deleted(collection.DeleteMany(ctx, said.filter, given))
		}, nil
	}
	given := options.DeleteOne().SetCollation(said.collation)
	if said.hint != nil {
		given.SetHint(said.hint)
	}
	if let != nil {
		given.SetLet(let)
	}
	return func(ctx context.Context) (done, error) {
		return deleted(collection.DeleteOne(ctx, said.filter, given))
	}, nil
}

func bulk(
	collection *mongo.Collection, statements bson.A, ordered, bypass bool, let bson.D,
	model func(any) (mongo.WriteModel, error),
) (call, error) {
	models := make([]mongo.WriteModel, 0, len(statements))
	for _, each := range statements {
		made, err := model(each)
		if err != nil {
			return nil, err
		}
		models = append(models, made)
	}
	given := options.BulkWrite().SetOrdered(ordered)
	if bypass {
		given.SetBypassDocumentValidation(true)
	}
	if let != nil {
		given.SetLet(let)
	}
	return func(ctx context.Context) (done, error) {
		result, err := collection.BulkWrite(ctx, models, given)
		var failed mongo.BulkWriteException
		if err != nil && !errors.As(err, &failed) {
			return done{}, err
		}
		count := result.MatchedCount + result.DeletedCount + result.UpsertedCount
		if err != nil {
			made := doneOf(err)
			made.body[1].Value = int32(count)
			return made, nil
		}
		made := ok(n(count), bson.E{Key: "nModified", Value: result.ModifiedCount})
		if result.UpsertedCount > 0 {
			upserted := bson.A{}
			for index, key := range result.UpsertedIDs {
				upserted = append(upserted, bson.D{{Key: "index", Value: index}, {Key: "_id", Value: key}})
			}
			made.body = append(made.body, bson.E{Key: "upserted", Value: upserted})
		}
		return made, nil
	}, nil
}

func findAndModify(collection *mongo.Collection, body *fields) (call, error) {
	filter := body.document("query")
	if filter == nil {
		filter = bson.D{}
	}
	change, _ := body.take("update")
	removes, after := body.flag("remove", false), body.flag("new", false)
	sort, projection, let := body.document("sort"), body.document("fields"), body.document("let")
	upsert, filters := body.flag("upsert", false), body.list("arrayFilters")
	hint, hasHint := body.take("hint")
	collation, bypass := body.collation(), body.flag("bypassDocumentValidation", false)
	if err := body.end(); err != nil {
		return nil, err
	}
	modified := func(result *mongo.SingleResult) (done, error) {
		var document bson.D
		err := result.Decode(&document)
		is := !errors.Is(err, mongo.ErrNoDocuments)
		reply := ok(bson.E{Key: "value", Value: nil})
		if is {
			reply = ok(bson.E{Key: "value", Value: document})
		} else {
			err = nil
		}
		// The driver doesn't say whether a document that is shown as it is afterwards was there before.
		if !removes && !(upsert && after) {
			existing := bson.D{{Key: "updatedExisting", Value: is}}
			reply.body = append(reply.body, bson.E{Key: "lastErrorObject", Value: existing})
		}
		return reply, err
	}
	which := options.Before
	if after {
		which = options.After
	}
	if removes {
		given := options.FindOneAndDelete().SetCollation(collation)
		if sort != nil {
			given.SetSort(sort)
		}
		if projection != nil {
			given.SetProjection(projection)
		}
		if hasHint {
			given.SetHint(hint)
		}
		if let != nil {
			given.SetLet(let)
		}
		return func(ctx context.Context) (done, error) {
			return modified(collection.FindOneAndDelete(ctx, filter, given))
		}, nil
	}
	if replaces(change) {
		given := options.FindOneAndReplace().SetCollation(collation).SetReturnDocument(which).SetUpsert(upsert)
		if sort != nil {
			given.SetSort(sort)
		}
		if projection != nil {
			given.SetProjection(projection)
		}
		if hasHint {
			given.SetHint(hint)
		}
		if let != nil {
			given.SetLet(let)
		}
		if bypass {
			given.SetBypassDocumentValidation(true)
		}
		return func(ctx context.Context) (done, error) {
			return modified(collection.FindOneAndReplace(ctx, filter, change, given))
		}, nil
	}
	given := options.FindOneAndUpdate().SetCollation(collation).SetReturnDocument(which).SetUpsert(upsert)
	if sort != nil {
		given.SetSort(sort)
	}
	if projection != nil {
		given.SetProjection(projection)
	}
	if filters != nil {
		given.SetArrayFilters(filters)
	}
	if hasHint {
		given.SetHint(hint)
	}
	if let != nil {
		given.SetLet(let)
	}
	if bypass {
		given.SetBypassDocumentValidation(true)
	}
	return func(ctx context.Context) (done, error) {
		return modified(collection.FindOneAndUpdate(ctx, filter, change, given))
	}, nil
}
