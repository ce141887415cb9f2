package runner;

import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.Collation;
import com.mongodb.client.model.CollationAlternate;
import com.mongodb.client.model.CollationCaseFirst;
import com.mongodb.client.model.CollationMaxVariable;
import com.mongodb.client.model.CollationStrength;
import com.mongodb.client.model.DeleteManyModel;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.DeleteOptions;
import com.mongodb.client.model.FindOneAndDeleteOptions;
import com.mongodb.client.model.FindOneAndReplaceOptions;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.InsertOneOptions;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.UpdateManyModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.WriteModel;
import java.util.ArrayList;
import java.util.List;
import org.bson.Document;

/** The fields of a command as the options of the driver's methods. Each is taken out; what is left is what the driver has no word for. */
final class Options {
    private Options() {}

    /** Refuses what was not taken. */
    static void end(Document rest) {
        if (!rest.isEmpty()) {
            throw new IllegalArgumentException("the driver has no word for " + String.join(", ", rest.keySet()));
        }
    }

    static boolean flag(Document from, String name, boolean otherwise) {
        Object value = from.remove(name);
        return value == null ? otherwise : Boolean.TRUE.equals(value);
    }

    static Integer number(Document from, String name) {
        Object value = from.remove(name);
        return value == null ? null : ((Number) value).intValue();
    }

    static Document document(Document from, String name) {
        return (Document) from.remove(name);
    }

    @SuppressWarnings("unchecked")
    static List<Document> documents(Document from, String name) {
        return (List<Document>) from.remove(name);
    }

    static Collation collation(Document from) {
        Document said = document(from, "collation");
        if (said == null) {
            return null;
        }
        Collation.Builder builder = Collation.builder().locale((String) said.remove("locale"));
        if (said.remove("caseLevel") instanceof Boolean value) {
            builder.caseLevel(value);
        }
        if (said.remove("caseFirst") instanceof String value) {
            builder.collationCaseFirst(CollationCaseFirst.fromString(value));
        }
        if (said.remove("strength") instanceof Number value) {
            builder.collationStrength(CollationStrength.fromInt(value.intValue()));
        }
        if (said.remove("numericOrdering") instanceof Boolean value) {
            builder.numericOrdering(value);
        }
        if (said.remove("alternate") instanceof String value) {
            builder.collationAlternate(CollationAlternate.fromString(value));
        }
        if (said.remove("maxVariable") instanceof String value) {
            builder.collationMaxVariable(CollationMaxVariable.fromString(value));
        }
        if (said.remove("normalization") instanceof Boolean value) {
            builder.normalization(value);
        }
        if (said.remove("backwards") instanceof Boolean value) {
            builder.backwards(value);
        }
        end(said);
        return builder.build();
    }

    static InsertOneOptions insertOne(Document body) {
        InsertOneOptions options = new InsertOneOptions();
        Boolean bypass = (Boolean) body.remove("bypassDocumentValidation");
        end(body);
        return bypass == null ? options : options.bypassDocumentValidation(bypass);
    }

    static InsertManyOptions insertMany(Document body, boolean ordered) {
        InsertManyOptions options = new InsertManyOptions().ordered(ordered);
        Boolean bypass = (Boolean) body.remove("bypassDocumentValidation");
        end(body);
        return bypass == null ? options : options.bypassDocumentValidation(bypass);
    }

    static UpdateOptions update(Document statement, Document body) {
        UpdateOptions options = new UpdateOptions().upsert(flag(statement, "upsert", false));
        options.arrayFilters(documents(statement, "arrayFilters")).collation(collation(statement));
        Object hint = statement.remove("hint");
        if (hint instanceof String name) {
            options.hintString(name);
        } else if (hint != null) {
            options.hint((Document) hint);
        }
        options.let(document(body, "let"));
        if (body.remove("bypassDocumentValidation") instanceof Boolean bypass) {
            options.bypassDocumentValidation(bypass);
        }
        end(statement);
        return options;
    }

    static ReplaceOptions replace(Document statement, Document body) {
        ReplaceOptions options = new ReplaceOptions().upsert(flag(statement, "upsert", false));
        options.collation(collation(statement));
        Object hint = statement.remove("hint");
        if (hint instanceof String name) {
            options.hintString(name);
        } else if (hint != null) {
            options.hint((Document) hint);
        }
        options.let(document(body, "let"));
        if (body.remove("bypassDocumentValidation") instanceof Boolean bypass) {
            options.bypassDocumentValidation(bypass);
        }
        end(statement);
        return options;
    }

    static DeleteOptions delete(Document statement, Document body) {
        DeleteOptions options = new DeleteOptions().collation(collation(statement)).let(document(body, "let"));
        Object hint = statement.remove("hint");
        if (hint instanceof String name) {
            options.hintString(name);
        } else if (hint != null) {
            options.hint((Document) hint);
        }
        end(statement);
        return options;
    }

    /** Whether an update is a whole document. */
    static boolean replaces(Object update) {
        return update instanceof Document whole
                && (whole.isEmpty() || !whole.keySet().iterator().next().startsWith("$"));
    }

    static BulkWriteOptions bulk(Document body, boolean ordered) {
        BulkWriteOptions options = new BulkWriteOptions().ordered(ordered).let(document(body, "let"));
        if (body.remove("bypassDocumentValidation") instanceof Boolean bypass) {
            options.bypassDocumentValidation(bypass);
        }
        end(body);
        return options;
    }

    @SuppressWarnings("unchecked")
    static WriteModel<Document> updateModel(Document statement) {
        Document filter = document(statement, "q");
        Object update = statement.remove("u");
        boolean many = flag(statement, "multi", false);
        Document none = new Document();
        if (replaces(update)) {
            return new ReplaceOneModel<>(filter, (Document) update, replace(statement, none));
        }
        UpdateOptions options = update(statement, none);
        if (update instanceof List<?> pipeline) {
            List<Document> stages = (List<Document>) pipeline;
            return many ? new UpdateManyModel<>(filter, stages, options) : new UpdateOneModel<>(filter, stages, options);
        }
        Document operators = (Document) update;
        return many ? new UpdateManyModel<>(filter, operators, options) : new UpdateOneModel<>(filter, operators, options);
    }

    static WriteModel<Document> deleteModel(Document statement) {
        Document filter = document(statement, "q");
        Integer limit = number(statement, "limit");
        DeleteOptions options = delete(statement, new Document());
        return limit == null || limit == 0 ? new DeleteManyModel<>(filter, options) : new DeleteOneModel<>(filter, options);
    }

    static List<WriteModel<Document>> models(List<Document> statements, boolean areUpdates) {
        List<WriteModel<Document>> models = new ArrayList<>(statements.size());
        statements.forEach(each -> models.add(areUpdates ? updateModel(each) : deleteModel(each)));
        return models;
    }

    static FindOneAndUpdateOptions findOneAndUpdate(Document body) {
        FindOneAndUpdateOptions options = new FindOneAndUpdateOptions()
                .sort(document(body, "sort"))
                .projection(document(body, "fields"))
                .upsert(flag(body, "upsert", false))
                .returnDocument(flag(body, "new", false) ? ReturnDocument.AFTER : ReturnDocument.BEFORE)
                .arrayFilters(documents(body, "arrayFilters"))
                .collation(collation(body))
                .let(document(body, "let"));
        Object hint = body.remove("hint");
        if (hint instanceof String name) {
            options.hintString(name);
        } else if (hint != null) {
            options.hint((Document) hint);
        }
        if (body.remove("bypassDocumentValidation") instanceof Boolean bypass) {
            options.bypassDocumentValidation(bypass);
        }
        end(body);
        return options;
    }

    static FindOneAndReplaceOptions findOneAndReplace(Document body) {
        FindOneAndReplaceOptions options = new FindOneAndReplaceOptions()
                .sort(document(body, "sort"))
                .projection(document(body, "fields"))
                .upsert(flag(body, "upsert", false))
                .returnDocument(flag(body, "new", false) ? ReturnDocument.AFTER : ReturnDocument.BEFORE)
                .collation(collation(body))
                .let(document(body, "let"));
        Object hint = body.remove("hint");
        if (hint instanceof String name) {
            options.hintString(name);
        } else if (hint != null) {
            options.hint((Document) hint);
        }
        if (body.remove("bypassDocumentValidation") instanceof Boolean bypass) {
            options.bypassDocumentValidation(bypass);
        }
        end(body);
        return options;
    }

    static FindOneAndDeleteOptions findOneAndDelete(Document body) {
        FindOneAndDeleteOptions options = new FindOneAndDeleteOptions()
                .sort(document(body, "sort"))
                .projection(document(body, "fields"))
                .collation(collation(body))
                .let(document(body, "let"));
        Object hint = body.remove("hint");
        if (hint instanceof String name) {
            options.hintString(name);
        } else if (hint != null) {
            options.hint((Document) hint);
        }
        body.remove("new");
        end(body);
        return options;
    }
}
