package standin;

import java.util.List;
import java.util.Map;
import org.neo4j.kernel.api.QueryLanguage;
import org.neo4j.kernel.api.procedure.QueryLanguageScope;
import org.neo4j.procedure.Description;
import org.neo4j.procedure.Name;
import org.neo4j.procedure.UserFunction;
import org.neo4j.values.storable.Values;

/**
 * Test code. Stands in for the newer function of Neo4j's GenAI plugin, for Cypher 25 only; it calls no provider.
 *
 * <p>A plugin can't declare a VECTOR, so this one declares ANY and returns a VECTOR.
 */
public class AiTextStandIn {
    private static final List<Provider> PROVIDERS = List.of(
            new Provider("openai").requires("token", "model").vendorOptions("dimensions"),
            new Provider("azure-openai").requires("token", "resource", "model").vendorOptions("dimensions"),
            new Provider("vertexai")
                    .requires("model", "project", "region")
                    .requiresOneOf("token", "apiKey")
                    .accepts("publisher")
                    .vendorOptions("outputDimensionality"),
            new Provider("bedrock-titan")
                    .requires("accessKeyId", "secretAccessKey", "model", "region")
                    .vendorOptions("dimensions"));

    static {
        PROVIDERS.forEach(provider -> provider.accepts("vendorOptions", "maxBatchSize"));
    }

    @UserFunction("ai.text.embed")
    @QueryLanguageScope(scope = {QueryLanguage.CYPHER_25})
    @Description("Test code: returns the test vector of a text.")
    public Object embed(
            @Name("resource") String resource,
            @Name("provider") String provider,
            @Name(value = "configuration", defaultValue = "{}") Map<String, Object> configuration) {
        double[] vector = Provider.named(provider, PROVIDERS).embed(resource, configuration);
        float[] coordinates = new float[vector.length];
        for (int i = 0; i < vector.length; i++) {
            coordinates[i] = (float) vector[i];
        }
        return Values.float32Vector(coordinates);
    }
}
