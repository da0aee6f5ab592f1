package standin;

import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.neo4j.procedure.Description;
import org.neo4j.procedure.Name;
import org.neo4j.procedure.UserFunction;

/** Test code. Stands in for the older function of Neo4j's GenAI plugin; it calls no provider. */
public class GenAiStandIn {
    private static final List<Provider> PROVIDERS = List.of(
            new Provider("OpenAI").requires("token").accepts("model", "dimensions"),
            new Provider("AzureOpenAI").requires("token", "resource", "deployment").accepts("dimensions"),
            new Provider("VertexAI").requires("token", "projectId").accepts("model", "region", "taskType", "title"),
            new Provider("Bedrock").requires("accessKeyId", "secretAccessKey").accepts("model", "region"));

    @UserFunction("genai.vector.encode")
    @Description("Test code: returns the test vector of a text.")
    public List<Double> encode(
            @Name("resource") String resource,
            @Name("provider") String provider,
            @Name(value = "configuration", defaultValue = "{}") Map<String, Object> configuration) {
        double[] vector = Provider.named(provider, PROVIDERS).embed(resource, configuration);
        return DoubleStream.of(vector).boxed().toList();
    }
}
