package standin;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Test code. A provider that refuses what the documentation doesn't allow, and embeds a text as its digest. */
class Provider {
    private static final String KEY = "test-genai-key";
    private static final String ACCESS_KEY_ID = "test-access-key";
    private static final String LEAKED = "leak-";
    private static final Set<String> SECRETS = Set.of("token", "apiKey", "secretAccessKey");
    private static final Set<String> NUMBERS = Set.of("dimensions", "outputDimensionality", "maxBatchSize");
    private static final Pattern SLEEP = Pattern.compile("^sleep:(\\d+(?:\\.\\d+)?) .*", Pattern.DOTALL);
    private static final long DEFAULT_DIMENSIONS = 8;

    private final String name;
    private final Set<String> required = new TreeSet<>();
    private final Set<String> alternatives = new TreeSet<>();
    private final Set<String> accepted = new TreeSet<>();
    private final Set<String> vendorOptions = new TreeSet<>();

    Provider(String name) {
        this.name = name;
    }

    Provider requires(String... keys) {
        required.addAll(Arrays.asList(keys));
        return accepts(keys);
    }

    Provider requiresOneOf(String... keys) {
        alternatives.addAll(Arrays.asList(keys));
        return accepts(keys);
    }

    Provider accepts(String... keys) {
        accepted.addAll(Arrays.asList(keys));
        return this;
    }

    Provider vendorOptions(String... keys) {
        vendorOptions.addAll(Arrays.asList(keys));
        return this;
    }

    static Provider named(String name, List<Provider> providers) {
        return providers.stream()
                .filter(provider -> provider.name.equalsIgnoreCase(name))
                .findFirst()
                .orElseThrow(() -> new GenAIProcedureException(
                        "Unknown provider '%s', expected one of %s".formatted(name, names(providers))));
    }

    private static List<String> names(List<Provider> providers) {
        return providers.stream().map(provider -> provider.name).toList();
    }

    double[] embed(String text, Map<String, Object> configuration) {
        check(configuration, required, accepted);
        if (!alternatives.isEmpty() && alternatives.stream().noneMatch(configuration::containsKey)) {
            throw new GenAIProcedureException(
                    "%s: one of %s is expected to have been set".formatted(name, alternatives));
        }
        Map<String, Object> options = vendorOptions(configuration);
        check(options, Set.of(), vendorOptions);
        if (text == null) {
            throw new GenAIProcedureException("'resource' must not be null");
        }
        authorize(configuration);
        act(text);
        return vector(text, dimensions(configuration, options));
    }

    private void check(Map<String, Object> configuration, Set<String> required, Set<String> accepted) {
        for (String key : required) {
            if (!configuration.containsKey(key)) {
                throw new GenAIProcedureException("%s: '%s' is expected to have been set".formatted(name, key));
            }
        }
        configuration.forEach((key, value) -> {
            if (!accepted.contains(key)) {
                throw new GenAIProcedureException(
                        "%s: unknown configuration '%s', expected only %s".formatted(name, key, accepted));
            }
            Class<?> type = key.equals("vendorOptions") ? Map.class : NUMBERS.contains(key) ? Long.class : String.class;
            if (!type.isInstance(value)) {
                throw new GenAIProcedureException(
                        "%s: '%s' is expected to be a %s".formatted(name, key, type.getSimpleName()));
            }
        });
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> vendorOptions(Map<String, Object> configuration) {
        return (Map<String, Object>) configuration.getOrDefault("vendorOptions", Map.of());
    }

    /** A key that begins with `leak-` is quoted, as a careless provider would. */
    private static void authorize(Map<String, Object> configuration) {
        configuration.forEach((key, value) -> {
            boolean wrong = SECRETS.contains(key) && !KEY.equals(value)
                    || key.equals("accessKeyId") && !ACCESS_KEY_ID.equals(value);
            if (wrong) {
                String quoted = value.toString().startsWith(LEAKED) ? ": incorrect key provided: " + value : "";
                throw new GenAIProcedureException(
                        "Not authorized to make API request; check your credentials. 401 Unauthorized" + quoted);
            }
        });
    }

    /** Does what a text asks for: `sleep:1.5 ...` blocks for 1.5 s, `fail: ...` fails. */
    private static void act(String text) {
        Matcher sleep = SLEEP.matcher(text);
        if (sleep.matches()) {
            block(Double.parseDouble(sleep.group(1)));
        }
        if (text.startsWith("fail: ")) {
            throw new GenAIProcedureException("The provider failed. 500 Internal Server Error");
        }
    }

    /** Blocks as a call over the network does: neither the end of the transaction nor an interrupt ends it. */
    private static void block(double seconds) {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            try {
                Thread.sleep(left / 1_000_000 + 1);
            } catch (InterruptedException ignored) {
                // goes on
            }
        }
    }

    private int dimensions(Map<String, Object> configuration, Map<String, Object> options) {
        Map<String, Object> source = vendorOptions.isEmpty() ? configuration : options;
        String key = vendorOptions.isEmpty() ? "dimensions" : vendorOptions.iterator().next();
        long dimensions = (Long) source.getOrDefault(key, DEFAULT_DIMENSIONS);
        if (dimensions < 1 || dimensions > 32) {
            throw new GenAIProcedureException("%s: '%s' is expected to be between 1 and 32".formatted(name, key));
        }
        return (int) dimensions;
    }

    /** The same as `digest_vector` in `tests/digest_embedder.py`. */
    private static double[] vector(String text, int dimensions) {
        byte[] digest = sha256(text);
        double[] vector = new double[dimensions];
        for (int i = 0; i < dimensions; i++) {
            vector[i] = ((digest[i] & 0xff) - 127.5) / 127.5;
        }
        return vector;
    }

    private static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** The real plugin's exceptions have this name, too. */
    @SuppressWarnings("serial")
    static class GenAIProcedureException extends RuntimeException {
        GenAIProcedureException(String message) {
            super(message);
        }
    }
}
